package dashboard

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cursortray/app"
	"cursortray/proxy/chat"
	"cursortray/proxy/ledger"
)

func TestModelsAreSortedAndSearched(t *testing.T) {
	tests := []struct{ query, want string }{
		{"", "gpt-large auto sonnet"},
		{"sort=name", "auto gpt-large sonnet"},
		{"sort=name&down=1", "sonnet gpt-large auto"},
		{"sort=in", "sonnet gpt-large auto"}, // what is not known comes last
		{"sort=out&down=1", "gpt-large sonnet auto"},
		{"sort=window", "sonnet gpt-large auto"},
		{"q=LARGE", "gpt-large"},
		{"q=high+gpt", "gpt-large"}, // a variant
		{"q=none", ""},
		{"sort=nonsense", "gpt-large auto sonnet"},
	}
	for _, tt := range tests {
		query, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, row := range modelsOf(&visit{snap: healthy(), query: query}).Rows {
			ids = append(ids, row.ID)
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%q gives %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestPercentOfAPlanLine(t *testing.T) {
	for value, want := range map[string]string{
		"28.6%": "28 true", "0%": "0 true", "140%": "100 true", "$12.88 of $20.00": "64 true", "31 of 500": "6 true", "$1,200.00 of $2,000.00": "60 true",
		"$5 of $0": "0 false", "": "0 false", "unlimited": "0 false", "$3.20": "0 false", "1e9%": "0 false", "$x of $y": "0 false",
	} {
		percent, known := percentIn(value)
		if got := fmt.Sprint(percent, known); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
}

func TestPartsOfAWindowFitOnTheirScale(t *testing.T) {
	for _, tt := range []struct{ max, a, b int }{{1000, 100, 200}, {1000, 900, 900}, {0, 5, 5}, {0, 0, 0}, {-1, -1, 1 << 50}} {
		end := 0
		for _, s := range slicesOf(app.Conversation{Context: &chat.Context{Max: tt.max, Parts: []chat.ContextPart{{ID: "a", Tokens: tt.a}, {ID: "b", Tokens: tt.b}}}}) {
			if s.X != end || s.Width < 0 || s.Label == "" {
				t.Errorf("%+v: %+v", tt, s)
			}
			end = s.X + s.Width
		}
		if end > 1000 {
			t.Errorf("%+v: they end at %d", tt, end)
		}
	}
}

func TestPlotsGetTheirFigures(t *testing.T) {
	r := newRig(t)
	r.enter("")
	read := func(path string) plot {
		t.Helper()
		var p plot
		got := r.get(Root + path)
		if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != 200 {
			t.Fatalf("%s: status %d, %v", path, got.status, err)
		}
		for _, s := range p.Series {
			if len(s.Values) != len(p.X) {
				t.Errorf("%s: %d values of %q for %d points", path, len(s.Values), s.Label, len(p.X))
			}
		}
		return p
	}
	if p := read("data/context?n=2"); len(p.X) != 2 || *p.Series[0].Values[1] != 84_250 || *p.Series[1].Values[0] != 200_000 {
		t.Errorf("context: %+v", p)
	}
	if p := read("data/context?n=9"); len(p.X) != 0 {
		t.Errorf("a conversation that is not there has %+v", p)
	}
	if p := read("data/spend?days=7&by=editor"); len(p.X) != 7 || len(p.Series) != 2 || p.Series[0].Label != "main key" {
		t.Errorf("spend: %+v", p)
	}
	if p := read("data/spend?days=1000000"); len(p.X) != 30 {
		t.Errorf("a span that is not offered gives %d days", len(p.X))
	}
}

func TestDollars(t *testing.T) {
	for amount, want := range map[string]string{
		"": "", "0": "$0.00", "0.0213": "$0.02", "12.5": "$12.50", "0.0004": "$0.0004", "1.005": "$1.01", "-1": "", "1e9": "", "x": "",
	} {
		if got := dollars(amount); got != want {
			t.Errorf("%q is %q, want %q", amount, got, want)
		}
	}
}

func TestOutcomesInWords(t *testing.T) {
	for outcome, want := range map[string]string{
		ledger.OK: "Answered good", ledger.Cancelled: "Stopped by the editor idle", "quota spent": "The allowance is used up bad",
		"cursor_silent": "Cursor went silent bad", "spend_limit_spend_runs_hour": "A spend limit was reached bad", "something_new": "Something new bad",
	} {
		words, mood := outcomeOf(ledger.Entry{Outcome: outcome})
		if got := words + " " + mood; got != want {
			t.Errorf("%q is %q, want %q", outcome, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for message, want := range map[string]string{
		"the keychain is locked":        "The keychain is locked.",
		"cursor-agent is not installed": "cursor-agent is not installed.",
		"addr: must be HOST:PORT":       "Addr: must be HOST:PORT.",
		"agent_url: no":                 "agent_url: no.",
		"Done!":                         "Done!",
		"":                              "",
	} {
		if got := sentence(message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
