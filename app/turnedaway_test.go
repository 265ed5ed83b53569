package app

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/ledger"
	"cursortray/proxy/spend"
)

// TestEachRequestHasOneEntry: whatever stops a request, and wherever, it is
// written down once, under the editor whose key it had; one that has no key is
// nobody's and not written down.
func TestEachRequestHasOneEntry(t *testing.T) {
	type sent struct {
		key, body string
		set       func(*http.Request)
		status    int
		editor    string
		outcome   string // "" is no entry
	}
	for dialect, request := range dialects {
		good := fmt.Sprintf(request.body, false)
		failure := &chat.Error{Kind: chat.BadGateway, Message: "it broke"}
		served := chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)}
		for name, c := range map[string]sent{
			"served":         {key: "codex-key", body: good, status: 200, editor: "codex", outcome: ledger.OK},
			"failed":         {key: testKey, body: good, status: 502, outcome: "bad_gateway"},
			"no JSON":        {key: "codex-key", body: `{"model":`, status: 400, editor: "codex", outcome: "invalid_json"},
			"another type":   {key: testKey, body: good, status: 415, outcome: "unsupported_media_type", set: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }},
			"switched off":   {key: "off-key", body: good, status: 403, editor: "zed", outcome: "editor_switched_off"},
			"at the limit":   {key: "old-key", body: good, status: 429, editor: "gone", outcome: "spend_limit_runs_hour"},
			"a key of none":  {key: "nobody's", body: good, status: 401},
			"from a page":    {key: testKey, body: good, status: 403, set: func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
			"another method": {key: testKey, body: good, status: 405, set: func(r *http.Request) { r.Method = http.MethodPut }},
		} {
			t.Run(name+"/"+dialect, func(t *testing.T) {
				book, turn := &pad{}, served
				if name == "failed" {
					turn = chattest.Turn{chattest.Fail(failure)}
				}
				r := newRig(t, func(cfg *Config) {
					cfg.Ledger, cfg.KeyOwners = book, owners{}
					if name == "at the limit" {
						past := []spend.Past{{At: time.Now(), Runs: 1}}
						cfg.Guard = spend.New(spend.Config{
							All:  spend.Limits{RunsHour: 1},
							Past: func(context.Context, time.Time) ([]spend.Past, error) { return past, nil },
						})
					}
				}, turn)
				resp, body := r.send(t, request.path, c.body, func(req *http.Request) {
					withKey(c.key)(req)
					if c.set != nil {
						c.set(req)
					}
				})
				if resp.StatusCode != c.status {
					t.Errorf("status %d, want %d: %s", resp.StatusCode, c.status, body)
				}
				r.stop() // it ends when all that has happened is written down
				r.ends(t, 20*time.Second)
				entries := book.all()
				if c.outcome == "" {
					if len(entries) > 0 {
						t.Errorf("written down: %+v", entries)
					}
					return
				}
				if len(entries) != 1 {
					t.Fatalf("%d entries: %+v", len(entries), entries)
				}
				if e := entries[0]; e.Outcome != c.outcome || e.Editor != c.editor || e.Dialect != dialect || e.At.IsZero() || e.Took < 0 {
					t.Errorf("%+v", e)
				}
				if shown := r.Snapshot().Recent; shown == nil || len(shown.All) != 1 || shown.All[0].Outcome != c.outcome {
					t.Errorf("shown is %+v", shown)
				}
			})
		}
	}
}
