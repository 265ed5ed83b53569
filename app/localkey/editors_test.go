package localkey

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/keychain"
	"cursortray/proxy/chat"
)

func newEditors(t *testing.T, fixed string, s keychain.Store) (*Editors, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	e := NewEditors(Config{Fixed: fixed, Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil))}, nil)
	t.Cleanup(e.Close)
	return e, &log
}

func editorKeyOf(t *testing.T, e *Editors, id string) string {
	t.Helper()
	key, err := e.Key(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// owner returns "id", "id (off)" or "" for nobody.
func owner(t *testing.T, e *Editors, key string) string {
	t.Helper()
	id, off, ok, err := e.Owner(t.Context(), key)
	if err != nil || ok != (id != "") {
		t.Fatalf("owner %q, %v, %v", id, ok, err)
	}
	if off {
		id += " (off)"
	}
	return id
}

func TestEachEditorHasAKeyThatIsKept(t *testing.T) {
	for name, s := range map[string]keychain.Store{"keychain": newStore(), "file": keychain.File(filepath.Join(t.TempDir(), "secrets")), "memory": keychain.Memory()} {
		t.Run(name, func(t *testing.T) {
			first, log := newEditors(t, "", s)
			codex, zed := editorKeyOf(t, first, "codex"), editorKeyOf(t, first, "zed")
			if codex == zed || !strings.HasPrefix(codex, "cte-") || len(codex) != 4+43 {
				t.Errorf("keys %q and %q", codex, zed)
			}
			second, _ := newEditors(t, "", s)
			for _, e := range []*Editors{first, second} {
				if owner(t, e, codex) != "codex" || owner(t, e, zed) != "zed" || editorKeyOf(t, e, "codex") != codex {
					t.Error("a key is not its editor's")
				}
				for _, wrong := range []string{"", "cte-", codex + "x", codex[:len(codex)-1], "ct-" + codex[4:]} {
					if id := owner(t, e, wrong); id != "" {
						t.Errorf("%q is taken for the key of %s", wrong, id)
					}
				}
			}
			if second.ForThisRun() != (name == "memory") {
				t.Errorf("for this run: %v", second.ForThisRun())
			}
			if strings.Contains(log.String(), codex) {
				t.Errorf("the log holds a key: %s", log)
			}
		})
	}
}

func TestAnEditorIsSwitchedOffAndRevoked(t *testing.T) {
	s := newStore()
	e, _ := newEditors(t, "", s)
	codex := editorKeyOf(t, e, "codex")
	zed := editorKeyOf(t, e, "zed")
	if err := e.Switch(t.Context(), "codex", true); err != nil || owner(t, e, codex) != "codex (off)" || owner(t, e, zed) != "zed" {
		t.Errorf("%v, %q and %q", err, owner(t, e, codex), owner(t, e, zed))
	}
	next, _ := newEditors(t, "", s)
	if owner(t, next, codex) != "codex (off)" || editorKeyOf(t, next, "codex") != codex {
		t.Error("the next start does not know that it is off")
	}
	if off, err := next.Off(t.Context()); err != nil || len(off) != 2 || !off["codex"] || off["zed"] {
		t.Errorf("%v, %v", off, err)
	}
	if err := next.Switch(t.Context(), "codex", false); err != nil || owner(t, next, codex) != "codex" {
		t.Errorf("switched on: %v, %q", err, owner(t, next, codex))
	}
	if err := next.Switch(t.Context(), "emacs", true); chat.AsError(err) == nil || !strings.Contains(err.Error(), "cursortray setup emacs") {
		t.Errorf("an editor without a key: %v", err)
	}
	for _, id := range []string{"codex", "codex", "zed"} {
		if err := next.Revoke(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if owner(t, next, codex)+owner(t, next, zed) != "" {
		t.Error("a revoked key is good")
	}
	if _, err := s.Store.Get(t.Context(), editorsEntry); err == nil {
		t.Error("the store keeps an entry without keys")
	}
	if again := editorKeyOf(t, next, "codex"); again == codex {
		t.Error("the revoked key came back")
	}
}

// `cursortray key --new` is about the main key alone, and who sends that costs
// no look at the others.
func TestTheMainKeyIsApart(t *testing.T) {
	s := newStore()
	keys, _ := newKeys(t, "", s)
	e, _ := newEditors(t, "", s)
	codex := editorKeyOf(t, e, "codex")
	if _, err := keys.NewKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	next, _ := newEditors(t, "", s)
	if owner(t, next, codex) != "codex" {
		t.Error("a new main key took an editor's key away")
	}
	fresh, _ := newEditors(t, "", s)
	before := s.gets.Load()
	if owner(t, fresh, get(t, keys)) != "" || s.gets.Load() != before {
		t.Error("the main key had the store read")
	}
}

func TestKC2_OneReadOfEditorsKeysPerStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		e, _ := newEditors(t, "", s)
		codex := editorKeyOf(t, e, "codex")
		s.hang = make(chan struct{})
		e, _ = newEditors(t, "", s)
		before := s.gets.Load()
		owners := make(chan string, 100)
		for range cap(owners) {
			go func() {
				id, _, _, _ := e.Owner(t.Context(), codex)
				owners <- id
			}()
		}
		synctest.Wait()
		close(s.hang)
		for range cap(owners) {
			if id := <-owners; id != "codex" {
				t.Errorf("owner %q", id)
			}
		}
		if n := s.gets.Load() - before; n != 1 {
			t.Errorf("the store was read %d times", n)
		}
	})
}

func TestALockedKeychainKeepsEditorsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		e, _ := newEditors(t, "", s)
		codex := editorKeyOf(t, e, "codex")
		s.getErr = fmt.Errorf("read: %w", keychain.ErrLocked)
		e, _ = newEditors(t, "", s)
		if _, _, ok, err := e.Owner(t.Context(), codex); ok || chat.AsError(err).Kind != chat.Unavailable {
			t.Errorf("%v, %v", ok, err)
		}
		if _, err := e.Key(t.Context(), "codex"); err == nil {
			t.Error("a second key was made")
		}
		s.getErr = nil
		time.Sleep(retryAfter)
		if owner(t, e, codex) != "codex" {
			t.Error("after unlocking the key is nobody's")
		}
	})
}

// With a key of the user's own: editors still get theirs where it can be kept,
// else his, which lasts.
func TestEditorsKeysBesideAFixedKey(t *testing.T) {
	s := newStore()
	e, _ := newEditors(t, "mine", s)
	if key := editorKeyOf(t, e, "codex"); key == "mine" || owner(t, e, key) != "codex" {
		t.Errorf("key %q", key)
	}
	for name, broken := range map[string]*store{
		"on reading": {Store: keychain.Memory(), getErr: keychain.ErrUnavailable},
		"on storing": {Store: keychain.Memory(), setErr: keychain.ErrUnavailable},
	} {
		e, _ = newEditors(t, "mine", broken)
		if key := editorKeyOf(t, e, "codex"); key != "mine" || e.ForThisRun() {
			t.Errorf("%s: key %q, for this run: %v", name, key, e.ForThisRun())
		}
		// To set it up again would be no remedy.
		if err := e.Switch(t.Context(), "codex", true); err == nil || broken.getErr != nil && !strings.Contains(err.Error(), "none can be switched off") {
			t.Errorf("%s: switched off: %v", name, err)
		}
	}
}

func TestEditorsKeysWithoutAKeychain(t *testing.T) {
	s := newStore()
	s.getErr, s.setErr = keychain.ErrUnavailable, keychain.ErrUnavailable
	e, log := newEditors(t, "", s)
	key := editorKeyOf(t, e, "codex")
	if owner(t, e, key) != "codex" || !e.ForThisRun() {
		t.Error("no key for this run")
	}
	if log.Len() > 0 { // the main key has told it
		t.Errorf("log: %s", log)
	}

	// A store that goes away later is told, once.
	s = newStore()
	e, log = newEditors(t, "", s)
	editorKeyOf(t, e, "codex")
	s.setErr = keychain.ErrUnavailable
	key = editorKeyOf(t, e, "zed")
	editorKeyOf(t, e, "aider")
	if text := log.String(); strings.Count(text, "CURSORTRAY_TOKEN_STORE=file") != 1 || strings.Contains(text, key) || owner(t, e, key) != "zed" {
		t.Errorf("log: %s", text)
	}
}

func TestDamagedKeysOfEditors(t *testing.T) {
	for _, text := range []string{"cte-half-a-key", "null", "[]", `{"codex":1}`} {
		s := newStore()
		if err := s.Set(t.Context(), editorsEntry, []byte(text)); err != nil {
			t.Fatal(err)
		}
		e, log := newEditors(t, "", s)
		if owner(t, e, "cte-half-a-key") != "" || !strings.Contains(log.String(), "set up again") || strings.Contains(log.String(), text) {
			t.Errorf("%s: log %s", text, log)
		}
		if key := editorKeyOf(t, e, "codex"); owner(t, e, key) != "codex" {
			t.Errorf("%s: no new key", text)
		}
	}
}

func TestAChangeThatCannotBeStoredIsNone(t *testing.T) {
	s := newStore()
	e, _ := newEditors(t, "", s)
	codex := editorKeyOf(t, e, "codex")
	s.setErr = fmt.Errorf("disk full")
	if err := e.Switch(t.Context(), "codex", true); err == nil || owner(t, e, codex) != "codex" {
		t.Errorf("%v, %q", err, owner(t, e, codex))
	}
	if _, err := e.Key(t.Context(), "zed"); err == nil {
		t.Error("a key that could not be stored was handed out")
	}
}

func TestKC2_ALockedStoreAsksOnceForAllKeys(t *testing.T) {
	s := newStore()
	s.getErr = fmt.Errorf("read: %w", keychain.ErrLocked)
	keys, _ := newKeys(t, "", s)
	e := NewEditors(keys.cfg, keys)
	t.Cleanup(e.Close)
	if _, err := keys.Key(t.Context()); err == nil {
		t.Error("the store is locked")
	}
	if _, err := e.Off(t.Context()); chat.AsError(err).Code != "keychain_locked" || s.gets.Load() != 1 {
		t.Errorf("%v, the store was asked %d times", err, s.gets.Load())
	}
}
