package tray

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Titles come from words.go, where one can read and change them all.
func TestTextsAreInOnePlace(t *testing.T) {
	titleAt := map[string]int{"text": 1, "choice": 1, "check": 1, "submenu": 1}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.Ident)
			at, is := titleAt[identName(f, ok)]
			if !is || len(call.Args) <= at {
				return true
			}
			calls++
			if literal, ok := call.Args[at].(*ast.BasicLit); ok {
				t.Errorf("%s: the title %s belongs into words.go", set.Position(literal.Pos()), literal.Value)
			}
			return true
		})
	}
	if calls < 30 {
		t.Errorf("only %d titles were looked at", calls)
	}
}

func identName(id *ast.Ident, ok bool) string {
	if !ok {
		return ""
	}
	return id.Name
}

// A figure that is older than its interval tells its age, wherever it stands.
func TestTD4_OldFiguresTellTheirAge(t *testing.T) {
	s := withAccount(app.LoggedIn, ada, withPlan, withModels, withConversations)
	s.Plan.Age, s.Models.Age, s.Models.PricesOf = "25 min ago", "3 days ago", "2026-10-10"
	stale := *s.Conversations.All[0].Context
	stale.Stale = true
	s.Conversations.All[0].Context = &stale
	shown := titles(s)
	for key, age := range map[string]string{
		"usage": "25 min ago", "plan.note.1": "25 min ago", "models.head": "List from 3 days ago; prices as of 2026-10-10", "context": "last turn", "talks.head": "last turn",
	} {
		if !strings.Contains(shown[key], age) {
			t.Errorf("%s says %q, not that it is of %s", key, shown[key], age)
		}
	}
	if tip := tooltip(s); !strings.Contains(tip, "last turn") {
		t.Errorf("the tooltip says %q", tip)
	}
}

func TestTooltipTellsTheNewestConversation(t *testing.T) {
	s := with(withConversations)
	if got, want := tooltip(s), "cursortray - Running on 127.0.0.1:8765 - Context 45K / 256K (17.6%)"; got != want {
		t.Errorf("the tooltip is %q, want %q", got, want)
	}
	s.Conversations.All[0].Context = nil // it reported none
	if got, want := tooltip(s), "cursortray - Running on 127.0.0.1:8765"; got != want {
		t.Errorf("the tooltip is %q, want %q", got, want)
	}
}

// What is more urgent wins, in this order.
func TestConditionsInTheirOrder(t *testing.T) {
	login := chat.Errorf(chat.LoginRequired, "a login is missing")
	steps := []struct {
		title string
		make  func(*app.Snapshot)
	}{
		{sayStopped, func(s *app.Snapshot) { s.Proxy.State = app.Stopped }},
		{"● Running on 127.0.0.1:8765", func(s *app.Snapshot) { s.Proxy.State = app.Running }},
		{sayOffline, func(s *app.Snapshot) { s.Backend.Problem = chat.Errorf(chat.BadGateway, "no network") }},
		{sayQuota, func(s *app.Snapshot) { s.Backend.Problem = chat.Errorf(chat.QuotaSpent, "used up") }},
		{sayComputers, func(s *app.Snapshot) {
			s.Backend.Problem = &chat.Error{Kind: chat.QuotaSpent, Code: codeDevices, Message: "too many computers"}
		}},
		{"! Spend guard: 1 request", func(s *app.Snapshot) { s.Guard.Reached = "1 request" }},
		{sayPending, func(s *app.Snapshot) { s.Account.State, s.Backend.Problem = app.LoginPending, login }},
		{sayExpired, func(s *app.Snapshot) { s.Account.State, s.Account.Problem = app.LoginEnded, login }},
		{sayLocked, func(s *app.Snapshot) {
			s.Account.State, s.Account.Problem, s.Account.Keyring = app.LoggedOut, login, app.KeyringLocked
		}},
		{sayKeyProblem, func(s *app.Snapshot) { s.KeyProblem = "no key" }},
		{"! Port 8765 is used by nginx", func(s *app.Snapshot) { s.Proxy.State, s.Proxy.Owner = app.Blocked, "nginx" }},
	}
	s := base()
	for _, step := range steps {
		step.make(&s)
		if got := conditionOf(s).title; got != step.title {
			t.Errorf("it says %q, want %q", got, step.title)
		}
	}
}

func TestDollars(t *testing.T) {
	for exact, want := range map[string]string{
		"": "", "0": "$0", "0.000": "$0", "0.0712345": "$0.07", "0.009": "<$0.01", "12": "$12.00", "1.5": "$1.50", "103.999": "$103.99",
	} {
		if got := dollars(exact); got != want {
			t.Errorf("%q is %q, want %q", exact, got, want)
		}
	}
}
