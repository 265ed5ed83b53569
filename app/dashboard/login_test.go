package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Who has no browser for Cursor's page logs in with a key, which no page and no
// address ever shows.
func TestLoginWithAKey(t *testing.T) {
	const key = "key_of-cursor.com-0123456789"
	r := newRig(t)
	r.enter("")
	out := healthy()
	out.Account = app.AccountStatus{State: app.LoggedOut}
	r.app.publish(out)
	if got := r.get(Root + "start"); !strings.Contains(got.body, `type="password" name="value"`) || !strings.Contains(got.body, "Log in with an API key") {
		t.Fatal("the first page has no field for a key")
	}
	login := func(value string, scripted bool) answer {
		return r.press("start", "login-key", func(v url.Values, q *http.Request) {
			v.Set("value", value)
			if scripted {
				q.Header.Set("X-Requested-With", "script")
			}
		})
	}
	for _, scripted := range []bool{true, false} {
		got := login("  "+key+"\n", scripted)
		if len(r.app.logins) != 1 || r.app.logins[0] != key {
			t.Fatalf("logins with %q", r.app.logins)
		}
		if got.status != 200 || strings.Contains(got.body+got.path, key) || strings.Contains(got.body, `"failed":true`) {
			t.Errorf("status %d at %s, or the key is shown", got.status, got.path)
		}
		r.app.logins = nil
	}
	if got := login(" ", true); !strings.Contains(got.body, "Enter the API key first") || len(r.app.logins) > 0 {
		t.Errorf("no key: %s, logins %d", got.body, len(r.app.logins))
	}
	// The state tells why a login failed, and nothing tells it a second time.
	r.app.refused = chat.Errorf(chat.LoginRequired, "Cursor does not accept this API key")
	out.Account.Login.Failure = chat.AsError(r.app.refused)
	r.app.publish(out)
	if got := login(key, false); strings.Count(got.body, "Cursor does not accept this API key") != 1 || strings.Contains(got.body, key) {
		t.Errorf("a refused key: status %d", got.status)
	}
	r.app.publish(app.Snapshot{})
	if got := login(key, false); !strings.Contains(got.body, "Cursor does not accept this API key") {
		t.Errorf("without an account: status %d", got.status)
	}
	for _, state := range []app.AccountState{app.LoggedIn, app.LoginPending, app.NoAccount} {
		out.Account.State = state
		r.app.publish(out)
		if got := r.get(Root + "start"); strings.Contains(got.body, "login-key") {
			t.Errorf("the field for a key is there in the state %v", state)
		}
	}
}

func TestDefaultModelOnThePage(t *testing.T) {
	r := newRig(t)
	r.enter("")
	button := func(id string) string { return `aria-label="Make default: ` + id + `"` }
	tests := []struct {
		chosen        string
		has, has2, no string
	}{
		{"", button("gpt-large"), button("gpt-large-high"), "Let Cursor choose"},
		{"gpt-large-high", button("gpt-large"), "Let Cursor choose", button("gpt-large-high")},
		{"gone", "<code>gone</code>", "Let Cursor choose", button("auto")},
	}
	for _, tt := range tests {
		s := healthy()
		s.Models.Chosen = tt.chosen
		r.app.publish(s)
		got := r.get(Root + "models")
		if !strings.Contains(got.body, tt.has) || !strings.Contains(got.body, tt.has2) || strings.Contains(got.body, tt.no) {
			t.Errorf("%q: %q or %q is missing, or %q is there", tt.chosen, tt.has, tt.has2, tt.no)
		}
		checkPage(t, "models with "+tt.chosen, got.body)
	}
}
