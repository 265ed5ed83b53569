package app

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy"
	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/ledger"
)

// fakeEditors has two editors, of which Codex is there.
type fakeEditors struct {
	mu    sync.Mutex
	codex EditorStatus
	err   error
	looks int
}

func newFakeEditors() *fakeEditors {
	return &fakeEditors{codex: EditorStatus{ID: "codex", Name: "Codex", Found: true, State: "not set up"}}
}

func (f *fakeEditors) List(context.Context) ([]EditorStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	return []EditorStatus{f.codex, {ID: "zed", Name: "Zed", State: "not set up"}}, nil
}

func (f *fakeEditors) change(notice, paste string, change func(*EditorStatus)) (EditorDone, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		change(&f.codex)
	}
	return EditorDone{Notice: notice, Copy: paste}, f.err
}

func (f *fakeEditors) SetUp(_ context.Context, id string) (EditorDone, error) {
	if id == "zed" {
		return EditorDone{Notice: "Zed is set up", Copy: "paste the key"}, nil
	}
	return f.change("Codex is set up: wrote config.toml", "", func(e *EditorStatus) { e.State, e.Keyed = "set up", true })
}

func (f *fakeEditors) Undo(_ context.Context, id string) (EditorDone, error) {
	return f.change("Codex is as it was", "", func(e *EditorStatus) { e.State, e.Keyed = "not set up", false })
}

func (f *fakeEditors) Switch(_ context.Context, id string, off bool) (EditorDone, error) {
	return f.change("Codex is switched", "", func(e *EditorStatus) { e.Off = off })
}

func (f *fakeEditors) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (s Snapshot) editor(id string) EditorStatus {
	if s.Editors != nil {
		for _, e := range s.Editors.All {
			if e.ID == id {
				return e
			}
		}
	}
	return EditorStatus{}
}

func TestEditorsAreSetUpFromTheMenu(t *testing.T) {
	f := newFakeEditors()
	r := newRig(t, func(c *Config) { c.Editors = f })
	s := r.until(t, "the list", func(s Snapshot) bool { return s.Editors != nil })
	if len(s.Editors.All) != 2 || s.editor("codex").State != "not set up" || len(s.Editors.Used()) != 0 {
		t.Errorf("%+v", s.Editors)
	}
	r.Do(SetUpEditor{ID: "codex"})
	s = r.until(t, "set up", func(s Snapshot) bool { return s.editor("codex").State == "set up" })
	if s.Notice.Text != "Codex is set up: wrote config.toml" {
		t.Errorf("notice %q", s.Notice.Text)
	}
	r.Do(SwitchEditor{ID: "codex", Off: true})
	r.until(t, "off", func(s Snapshot) bool { return s.editor("codex").Off && s.Notice.Text == "Codex is switched" })
	r.Do(UndoEditor{ID: "codex"})
	r.until(t, "undone", func(s Snapshot) bool {
		return s.editor("codex").State == "not set up" && s.Notice.Text == "Codex is as it was"
	})

	// What the user has to paste is on the clipboard, and not in the notice.
	r.Do(SetUpEditor{ID: "zed"})
	if text := <-r.copies; text != "paste the key" {
		t.Errorf("copied %q", text)
	}
	r.until(t, "the notice", func(s Snapshot) bool { return s.Notice.Text == "Zed is set up; what to enter is on the clipboard" })

	f.fail(errors.New("config.toml: line 3 is no TOML"))
	r.Do(SetUpEditor{ID: "codex"})
	r.until(t, "why not", func(s Snapshot) bool { return s.Notice.Text == "Not set up: config.toml: line 3 is no TOML" })
	f.fail(chat.Errorf(chat.Unavailable, "the keychain is locked"))
	r.Do(UndoEditor{ID: "codex"})
	r.until(t, "why not", func(s Snapshot) bool { return s.Notice.Text == "Not undone: the keychain is locked" })
}

// Somebody else, for example the command line, has changed something.
func TestTheListOfEditorsIsRead(t *testing.T) {
	f := newFakeEditors()
	r := newRig(t, func(c *Config) { c.Editors = f })
	r.until(t, "the list", func(s Snapshot) bool { return s.Editors != nil })
	for _, action := range []Action{LookForEditors{}, MenuOpened{}} {
		f.mu.Lock()
		f.codex.Off = !f.codex.Off
		off := f.codex.Off
		f.mu.Unlock()
		r.Do(action)
		r.until(t, "the change", func(s Snapshot) bool { return s.editor("codex").Off == off })
	}
}

func TestWithoutEditors(t *testing.T) {
	r := newRig(t, nil)
	r.Do(SetUpEditor{ID: "codex"})
	s := r.until(t, "the notice", func(s Snapshot) bool { return s.Notice.N > 0 })
	if !strings.Contains(s.Notice.Text, "cannot set editors up") || s.Editors != nil {
		t.Errorf("%+v", s)
	}
}

// owners knows the key of Codex and of one that the list does not have.
type owners struct{ err error }

func (o owners) Owner(_ context.Context, key string) (string, bool, bool, error) {
	id, ok := map[string]string{"codex-key": "codex", "old-key": "gone", "off-key": "zed"}[key]
	return id, id == "zed", ok, o.err
}

func TestRequestsAreCountedByEditor(t *testing.T) {
	answer := chattest.Turn{chattest.Text("hi"), chattest.Finish(chat.Stop)}
	r := newRig(t, func(c *Config) { c.Editors, c.KeyOwners = newFakeEditors(), owners{} }, answer, answer, answer, answer)
	post := func(key string) int { return statusOf(t, r.in(t, Running).Proxy.BaseURL, key, "m") }
	for _, key := range []string{"codex-key", "old-key", "codex-key", testKey} {
		if status := post(key); status != 200 {
			t.Fatalf("%s: status %d", key, status)
		}
	}
	if status := post("off-key"); status != 403 {
		t.Errorf("an editor that is switched off: status %d", status)
	}
	s := r.until(t, "the count", func(s Snapshot) bool { return s.editor("codex").Runs == 2 && s.editor("zed").Name == "Zed" })
	used := s.Editors.Used()
	if len(used) != 2 || used[0].ID != "codex" || used[1].ID != "gone" || used[0].LastUsed.IsZero() || used[0].State != "not set up" {
		t.Errorf("used: %+v", used)
	}
}

// What an editor asked before a restart counts, and nothing counts twice.
func TestEditorsAreKnownAfterARestart(t *testing.T) {
	now := time.Now()
	book := &pad{loads: []ledger.Load{
		{At: now.Add(-30 * time.Hour), Editor: "codex", Runs: 1000}, // longer ago than a day
		{At: now.Add(-20 * time.Hour), Editor: "codex", Runs: 3},
		{At: now.Add(-time.Hour), Editor: "codex", Runs: 4},
		{At: now.Add(-time.Hour), Editor: "", Runs: 50}, // the main key
		{At: now.Add(-2 * time.Hour), Editor: "zed", Runs: 5},
		{At: now.Add(time.Second), Editor: "zed", Runs: 100}, // counted when it came
	}}
	answer := chattest.Turn{chattest.Text("hi"), chattest.Finish(chat.Stop)}
	r := newRig(t, func(c *Config) { c.Editors, c.KeyOwners, c.Ledger = newFakeEditors(), owners{}, book }, answer)
	if status := statusOf(t, r.in(t, Running).Proxy.BaseURL, "codex-key", "m"); status != 200 {
		t.Fatalf("status %d", status)
	}
	s := r.until(t, "the counts", func(s Snapshot) bool { return s.editor("codex").Runs == 8 && s.editor("zed").Runs == 5 })
	if used := s.Editors.Used(); len(used) != 2 || used[0].ID != "codex" || !used[1].LastUsed.Equal(now.Add(-2*time.Hour)) {
		t.Errorf("used: %+v", used)
	}
}

func TestOnlyTheLastDayCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		u := &editorUse{hour: start.Unix() / 3600}
		ask := func() { u.settle(time.Now()); u.runs[u.hour%useHours]++ }
		ask()
		ask()
		time.Sleep(23 * time.Hour)
		ask()
		if n := u.count(time.Now()); n != 3 {
			t.Errorf("after 23 hours: %d", n)
		}
		time.Sleep(2 * time.Hour)
		if n := u.count(time.Now()); n != 1 {
			t.Errorf("after 25 hours: %d", n)
		}
		time.Sleep(1000 * time.Hour)
		if n := u.count(time.Now()); n != 0 {
			t.Errorf("after weeks: %d", n)
		}
		// A clock that was set back loses nothing.
		if n := u.count(start); n != 0 {
			t.Errorf("with the clock set back: %d", n)
		}
	})
}

func TestAuthorizeKnowsEditors(t *testing.T) {
	keys := &fakeKeys{}
	a := New(Config{Keys: keys, KeyOwners: owners{}})
	for key, want := range map[string]proxy.Caller{testKey: {}, "codex-key": {Editor: "codex"}, "off-key": {Editor: "zed", Off: true}} {
		if who, ok, err := a.authorize(t.Context(), key); !ok || err != nil || who != want {
			t.Errorf("%s: %+v, %v, %v", key, who, ok, err)
		}
	}
	if _, ok, err := a.authorize(t.Context(), "nobody's"); ok || err != nil {
		t.Errorf("a key of nobody: %v, %v", ok, err)
	}
	// Without the main key, editors still get in; others cannot be told.
	keys.fail(chat.Errorf(chat.Unavailable, "locked"))
	if who, ok, _ := a.authorize(t.Context(), "codex-key"); !ok || who.Editor != "codex" {
		t.Errorf("%+v, %v", who, ok)
	}
	if _, ok, err := a.authorize(t.Context(), "nobody's"); ok || err == nil {
		t.Errorf("a key of nobody: %v, %v", ok, err)
	}
	a = New(Config{Keys: &fakeKeys{}, KeyOwners: owners{err: chat.Errorf(chat.Unavailable, "locked")}})
	if _, ok, err := a.authorize(t.Context(), testKey); !ok || err != nil {
		t.Errorf("the main key: %v, %v", ok, err)
	}
}
