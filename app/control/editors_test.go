package control

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// fakeEditorKeys remembers what it was asked for.
type fakeEditorKeys struct {
	off map[string]bool
	err error
}

func (k *fakeEditorKeys) Key(_ context.Context, id string) (string, error) {
	if k.err == nil {
		k.off[id] = false
	}
	return "key of " + id, k.err
}

func (k *fakeEditorKeys) Revoke(_ context.Context, id string) error {
	delete(k.off, id)
	return k.err
}

func (k *fakeEditorKeys) Switch(_ context.Context, id string, off bool) error {
	k.off[id] = off
	return k.err
}

func (k *fakeEditorKeys) Off(context.Context) (map[string]bool, error) { return k.off, k.err }

func (k *fakeEditorKeys) ForThisRun() bool { return true }

func TestEditorsOverTheSocket(t *testing.T) {
	at := time.Date(2026, 10, 1, 12, 0, 0, 5, time.UTC)
	f := newFakeApp(app.Snapshot{Editors: &app.EditorList{All: []app.EditorStatus{
		{ID: "codex", Name: "Codex", Found: true, State: "set up", Keyed: true, LastUsed: at, Runs: 3},
		{ID: "zed", Name: "Zed", State: "not set up"},
		{ID: "cline", Name: "Cline", State: "by hand", Keyed: true, Off: true},
	}}})
	keys := &fakeEditorKeys{off: map[string]bool{}}
	dir := t.TempDir()
	serve(t, dir, Config{Instance: f, Keys: &fakeKeys{}, EditorKeys: keys})
	c, ctx := NewClient(dir), t.Context()

	if key, err := c.EditorKey(ctx, "codex"); key != "key of codex" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
	if err := c.SwitchEditor(ctx, "codex", true); err != nil || !keys.off["codex"] {
		t.Errorf("%v, %v", keys.off, err)
	}
	seconds := at.Truncate(time.Second)
	want := EditorUse{Off: map[string]bool{"codex": true}, ForThisRun: true, Editors: []Editor{
		{ID: "codex", Name: "Codex", Found: true, State: "set up", Keyed: true, LastUsed: &seconds, Requests: 3},
		{ID: "cline", Name: "Cline", State: "by hand", Keyed: true, Off: true},
	}}
	if use, err := c.Editors(ctx); err != nil || cmp.Diff(want, use) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, use))
	}
	if status, err := c.Status(ctx); err != nil || cmp.Diff(want.Editors, status.Editors) != "" {
		t.Errorf("status: %v\n%s", err, cmp.Diff(want.Editors, status.Editors))
	}
	if err := c.SwitchEditor(ctx, "codex", false); err != nil || keys.off["codex"] {
		t.Errorf("%v, %v", keys.off, err)
	}
	if err := c.RevokeEditor(ctx, "codex"); err != nil || len(keys.off) > 0 {
		t.Errorf("%v, %v", keys.off, err)
	}
	if err := c.LookForEditors(ctx); err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	looks := 0
	for _, action := range f.actions {
		if action == (app.LookForEditors{}) {
			looks++
		}
	}
	f.mu.Unlock()
	if looks != 5 {
		t.Errorf("the instance looked %d times, want once for each change", looks)
	}

	keys.err = chat.Errorf(chat.Unavailable, "the keychain is locked")
	_, keyErr := c.EditorKey(ctx, "codex")
	_, useErr := c.Editors(ctx)
	for _, err := range []error{keyErr, useErr, c.RevokeEditor(ctx, "codex"), c.SwitchEditor(ctx, "codex", true)} {
		if e := chat.AsError(err); e == nil || e.Kind != chat.Unavailable || e.Message != "the keychain is locked" {
			t.Errorf("error %v", err)
		}
	}
}

func TestModelsThereAndBack(t *testing.T) {
	models := []chat.Model{
		{
			ID: "m", Name: "M", Group: "m", Aliases: []string{"n"}, ContextWindow: 2, MaxContextWindow: 3, MaxOutput: 4, Images: true, Reasoning: true, Default: true,
			Price: &chat.Price{Input: "0.000003", Output: "0.000015"},
		},
		{ID: "k", Name: "K"},
	}
	back := ChatModels(ModelsOf(models))
	if back[0].Price == nil || back[0].Price.Input != "3e-6" || back[0].Price.Output != "15e-6" || back[0].Price.CacheRead != "" {
		t.Errorf("price %+v", back[0].Price)
	}
	back[0].Price = models[0].Price
	if diff := cmp.Diff(models, back); diff != "" {
		t.Error(diff)
	}
}
