package dashboard

import (
	"strings"
	"time"

	"cursortray/app"
	"cursortray/proxy/ledger"
)

func requestsPage() *page {
	return &page{
		name: "requests", title: "Recent requests",
		parts: []string{"requests.table"},
		view:  (*Dashboard).requestsOf,
	}
}

// recent is how many requests are shown.
const recent = 100

type requests struct {
	Kept    bool
	Problem string
	Failed  bool // only those that failed are shown
	Rows    []requestRow
}

// requestRow is one request: figures, and nothing of what was said.
type requestRow struct {
	At                      time.Time
	Editor, Model           string
	Dialect, Backend        string
	Outcome, Mood, Code     string
	Context, Cost           string
	Took                    time.Duration
	Input, Output, CacheHit int64
}

func (d *Dashboard) requestsOf(v *visit) any {
	list := requests{Kept: d.cfg.Ledger != nil, Failed: v.query.Get("show") == "failed"}
	if !list.Kept && v.snap.Recent == nil {
		return list
	}
	entries := latest(v.snap)
	if list.Kept {
		var err error
		if entries, err = d.cfg.Ledger.Recent(v.ctx, recent); err != nil {
			list.Problem = "The ledger cannot be read; the log says why."
			d.cfg.Logger.Warn("the ledger cannot be read", "error", err)
		}
	}
	list.Kept = true
	for _, e := range entries {
		row := requestRowOf(e)
		if !list.Failed || row.Mood == "bad" {
			list.Rows = append(list.Rows, row)
		}
	}
	return list
}

// latest are the requests that the App itself remembers.
func latest(s app.Snapshot) []ledger.Entry {
	if s.Recent == nil {
		return nil
	}
	var list []ledger.Entry
	for _, r := range s.Recent.All {
		e := ledger.Entry{At: r.At, Editor: r.Editor, Model: r.Model, Dialect: r.Dialect, Backend: r.Backend, Outcome: r.Outcome, Cost: r.Cost, Took: r.Took}
		if r.Context != nil {
			e.Context, e.Window = int64(r.Context.Used), int64(r.Context.Max)
		}
		list = append(list, e)
	}
	return list
}

func requestRowOf(e ledger.Entry) requestRow {
	row := requestRow{
		At: e.At, Editor: editorName(e.Editor), Model: modelName(e.Model), Dialect: dialectNames[e.Dialect], Backend: e.Backend,
		Cost: dollars(e.Cost), Took: e.Took, Input: e.Input + e.CacheRead + e.CacheWrite, Output: e.Output, CacheHit: e.CacheRead,
	}
	row.Outcome, row.Mood = outcomeOf(e)
	if row.Mood == "bad" {
		row.Code = e.Outcome
	}
	if e.Context > 0 {
		row.Context = app.TokenCount(int(e.Context))
		if e.Window > 0 {
			row.Context += " of " + app.TokenCount(int(e.Window))
		}
	}
	return row
}

var dialectNames = map[string]string{"chat": "Chat Completions", "responses": "Responses", "messages": "Messages"}

// outcomes puts codes, and kinds of errors that have none, into words.
var outcomes = map[string]string{
	"internal":                   "A fault in cursortray",
	"invalid":                    "The request makes no sense",
	"login_required":             "Not logged in to Cursor",
	"cursor_login_required":      "cursor-agent is not signed in",
	"not_in_plan":                "The plan lacks this model",
	"quota_spent":                "The allowance is used up",
	"usage_limit":                "The allowance is used up",
	"not_found":                  "No such model",
	"model_not_found":            "No such model",
	"too_long":                   "The conversation is too long",
	"too_large":                  "The request is too large",
	"rate_limited":               "Too many requests for Cursor",
	"overloaded":                 "Too many requests at once",
	"too_many_runs":              "Too many requests at once",
	"cursor_cli_busy":            "Too many requests at once",
	"unavailable":                "Cursor cannot be used",
	"cursor_cli_not_found":       "cursor-agent is not installed",
	"cursor_cli_incompatible":    "cursor-agent is too old",
	"cursor_workspace_untrusted": "cursor-agent does not trust the folder",
	"cursor_unreachable":         "Cursor does not answer",
	"bad_gateway":                "Cursor failed",
	"answer_broken_off":          "The answer broke off",
	"empty_answer":               "The answer was empty",
	"cursor_empty":               "The answer was empty",
	"cursor_silent":              "Cursor went silent",
	"timeout":                    "Cursor went silent",
	"client_outdated":            "Cursor wants a newer client",
	"too_many_devices":           "Cursor counts too many computers",
	"account_refused":            "Cursor refuses the account",
	"shutting_down":              "cursortray was stopping",
	"editor_switched_off":        "The editor is switched off",
	"tool_loop":                  "The model went in circles",
	"keychain_locked":            "The keychain is locked",
	ledger.Refused:               "A spend limit was reached",
}

func outcomeOf(e ledger.Entry) (words, mood string) {
	switch {
	case e.Outcome == ledger.OK && e.Paused:
		return "Waits for a tool", "busy"
	case e.Outcome == ledger.OK:
		return "Answered", "good"
	case e.Outcome == ledger.Cancelled:
		return "Stopped by the editor", "idle"
	}
	code := strings.ReplaceAll(e.Outcome, " ", "_")
	if strings.HasPrefix(code, ledger.Refused) { // which limit it was is the code's to say
		code = ledger.Refused
	}
	if words := outcomes[code]; words != "" {
		return words, "bad"
	}
	return strings.TrimSuffix(sentence(strings.ReplaceAll(code, "_", " ")), "."), "bad"
}
