package cursor

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
)

// fakeModels answers the calls that list models.
type fakeModels struct {
	mu     sync.Mutex
	calls  map[string]int
	bodies map[string]string
	answer map[string]string // by method; none is an error
	delay  time.Duration
}

func newFakeModels(models ...string) *fakeModels {
	f := &fakeModels{calls: map[string]int{}, bodies: map[string]string{}}
	f.serve(models...)
	return f
}

// serve makes the models the only ones.
func (f *fakeModels) serve(models ...string) {
	var rows []string
	for _, name := range models {
		rows = append(rows, `{"name":"`+name+`"}`)
	}
	f.set(map[string]string{
		methodAvailable: `{"models":[` + strings.Join(rows, ",") + `]}`,
		methodUsable:    `{"models":[{"modelId":"` + models[0] + `","apiKeyCredentials":{"apiKey":"sk-secret"}}]}`,
		methodDefault:   `{"model":{"modelId":"` + models[len(models)-1] + `"}}`,
	})
}

func (f *fakeModels) set(answer map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

func (f *fakeModels) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[methodAvailable]
}

func (f *fakeModels) call(ctx context.Context, method string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.calls[method]++
	f.bodies[method] = string(text)
	answer, ok := f.answer[method]
	f.mu.Unlock()
	select {
	case <-time.After(f.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !ok {
		return nil, &chat.Error{Kind: chat.BadGateway, Message: "down"}
	}
	return []byte(answer), nil
}

func newModelCache(t *testing.T, f *fakeModels, dir string) *ModelCache {
	t.Helper()
	c := NewModelCache(ModelCacheConfig{Call: f.call, Dir: dir})
	t.Cleanup(func() { c.Close() })
	return c
}

// ids lists the account's models in one text, or the error.
func ids(t *testing.T, c *ModelCache, account string) string {
	t.Helper()
	catalog, err := c.Catalog(t.Context(), account)
	if err != nil {
		return "error: " + chat.AsError(err).Message
	}
	return idsOf(catalog)
}

func idsOf(c *Catalog) string {
	var all []string
	for _, m := range c.Models() {
		all = append(all, m.ID)
	}
	return strings.Join(all, " ")
}

// MU-1: the stored list is there at once; a new model after one refresh.
func TestMU1_CachedAtOnceThenTheNewList(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeModels("a", "b")
		first := newModelCache(t, f, dir)
		if got := ids(t, first, "me"); got != "b a" { // b is the default
			t.Fatalf("fetched %q", got)
		}
		first.Close()
		time.Sleep(48 * time.Hour)

		f.serve("a", "b", "c")
		f.delay = time.Second
		c := newModelCache(t, f, dir)
		start := time.Now()
		if got := ids(t, c, "me"); got != "b a" || time.Since(start) != 0 {
			t.Errorf("after a start: %q, %v later", got, time.Since(start))
		}
		if s := c.Status(); !s.Refreshing || time.Since(s.Fetched) != 48*time.Hour {
			t.Errorf("status %+v", s)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if got := ids(t, c, "me"); got != "c a b" {
			t.Errorf("after the refresh: %q", got)
		}
		if s := c.Status(); s.Refreshing || time.Since(s.Fetched) != 0 || s.Problem != nil {
			t.Errorf("status %+v", s)
		}
		if got, want := f.bodies[methodAvailable], `{"includeLongContextModels":true,"useModelParameters":true,"useCloudAgentEffortModes":true}`; got != want {
			t.Errorf("asked with %s, want %s", got, want)
		}
		if got := f.bodies[methodUsable]; got != "{}" {
			t.Errorf("asked for the usable ones with %s", got)
		}
	})
}

// MU-1: a failed refresh keeps the old list and its age.
func TestMU1_FailedRefreshKeepsTheOldList(t *testing.T) {
	for name, answer := range map[string]map[string]string{
		"down":           {},
		"no rows":        {methodAvailable: `{"models":[]}`, methodUsable: `{"models":[{"modelId":"a"}]}`},
		"only hidden":    {methodAvailable: `{"models":[{"name":"a","isHidden":true}]}`},
		"not JSON":       {methodAvailable: `<html>`, methodUsable: `<html>`, methodDefault: `<html>`},
		"only usable up": {methodUsable: `{"models":[{"modelId":"x"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeModels("a")
				c := newModelCache(t, f, dir)
				if got := ids(t, c, "me"); got != "a" {
					t.Fatal(got)
				}
				time.Sleep(25 * time.Hour)
				f.set(answer)
				if _, err := c.Refresh(t.Context(), "me"); err == nil {
					t.Error("no error")
				}
				for range 3 {
					if got := ids(t, c, "me"); got != "a" {
						t.Errorf("then %q", got)
					}
					synctest.Wait()
				}
				if s := c.Status(); s.Problem == nil || time.Since(s.Fetched) != 25*time.Hour {
					t.Errorf("status %+v", s)
				}
				if n := f.count(); n != 2 {
					t.Errorf("%d calls; a failed refresh is not repeated at once", n)
				}
				time.Sleep(modelsRetry)
				f.serve("a", "new")
				ids(t, c, "me")
				synctest.Wait()
				if got := ids(t, c, "me"); got != "new a" || c.Status().Problem != nil {
					t.Errorf("after a while %q, %v", got, c.Status().Problem)
				}
			})
		})
	}
}

// MU-1: half a file, or another one, is ignored and fetched again.
func TestMU1_DamagedFileIsFetchedAgain(t *testing.T) {
	dir := t.TempDir()
	f := newFakeModels("old")
	c := newModelCache(t, f, dir)
	ids(t, c, "me")
	c.Close()
	path := modelPath(dir, "me")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.serve("new")
	for name, text := range map[string]string{
		"empty":         "",
		"half":          string(whole[:len(whole)/2]),
		"tail":          string(whole) + "}",
		"other schema":  strings.Replace(string(whole), `"schema":1`, `"schema":0`, 1),
		"other account": strings.Replace(string(whole), accountHash("me"), accountHash("you"), 1),
		"no rows":       strings.Replace(string(whole), `"name":"old"`, `"name":""`, 1),
		"bad id":        strings.Replace(string(whole), `"name":"old"`, `"name":"o\nld"`, 1),
		"no time":       strings.Replace(string(whole), `"fetched":"2`, `"fetched":"x`, 1),
		"future":        strings.Replace(string(whole), `"fetched":"20`, `"fetched":"90`, 1),
		"not JSON":      "\x00\x01\x02",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newModelCache(t, f, dir)
		if got := ids(t, c, "me"); got != "new" {
			t.Errorf("%s: %q", name, got)
		}
		c.Close()
	}
}

// What lies on disk names nobody and holds none of the user's own keys.
func TestModelFileTellsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "er")
	c := newModelCache(t, newFakeModels("a"), dir)
	ids(t, c, "person@example.com")
	c.Close()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, entries[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{"person", "example", "sk-secret"} {
		if strings.Contains(entries[0].Name()+string(text), private) {
			t.Errorf("%q is in the file", private)
		}
	}
}

// A thousand requests at a start are one refresh.
func TestModelsAreFetchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeModels("a")
		f.delay = time.Second
		c := newModelCache(t, f, "")
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				ask := c.Catalog
				if i%10 == 0 {
					ask = c.Refresh
				}
				if _, err := ask(t.Context(), "me"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := f.count(); n != 1 {
			t.Errorf("%d refreshes", n)
		}
		time.Sleep(modelsAge)
		for range 100 {
			ids(t, c, "me")
		}
		synctest.Wait()
		if n := f.count(); n != 2 {
			t.Errorf("%d refreshes after a day", n)
		}
	})
}

func TestModelsWithoutAnyList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeModels("a")
		f.set(nil)
		c := newModelCache(t, f, "")
		for range 100 {
			if got := ids(t, c, "me"); got != "error: down" {
				t.Fatal(got)
			}
		}
		if n := f.count(); n != 1 {
			t.Errorf("%d calls", n)
		}
		time.Sleep(modelsHold)
		f.serve("a")
		if got := ids(t, c, "me"); got != "a" {
			t.Error(got)
		}
		// The usable list alone will do where there is nothing else.
		f.set(map[string]string{methodUsable: `{"models":[{"modelId":"x-low"},{"modelId":"x-high"}]}`})
		if got := ids(t, c, "other"); got != "x x-low x-high" || c.Status().Problem == nil {
			t.Errorf("%q, %v", got, c.Status().Problem)
		}
	})
}

// What only the smaller calls tell is kept while they fail.
func TestModelsKeepTheUsableList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeModels("a", "b")
		c := newModelCache(t, f, "")
		want := ids(t, c, "me")
		f.set(map[string]string{methodAvailable: f.answer[methodAvailable]})
		if catalog, err := c.Refresh(t.Context(), "me"); err != nil || idsOf(catalog) != want || len(c.lists.Usable) != 1 {
			t.Errorf("%v, %v", c.lists, err)
		}
	})
}

// A caller that leaves takes nothing away from the others.
func TestModelRefreshOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeModels("a")
		f.delay = time.Second
		c := newModelCache(t, f, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Catalog(ctx, "me"); chat.AsError(err).Kind != chat.Canceled {
			t.Errorf("got %v", err)
		}
		if got := ids(t, c, "me"); got != "a" || f.count() != 1 {
			t.Errorf("%q after %d calls", got, f.count())
		}
	})
}

// After a logout nothing is left, and nothing comes back.
func TestForgetModels(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "models-1.tmp"), nil, 0o600); err != nil { // of a process that was killed
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFakeModels("a")
		c := newModelCache(t, f, dir)
		ids(t, c, "me")
		ids(t, c, "you")
		synctest.Wait()
		f.delay = time.Second
		late := make(chan error, 1)
		go func() {
			_, err := c.Refresh(t.Context(), "me")
			late <- err
		}()
		synctest.Wait()
		if err := c.Forget(); err != nil {
			t.Error(err)
		}
		if err := <-late; chat.AsError(err).Kind != chat.Canceled {
			t.Errorf("a refresh that came too late: %v", err)
		}
		synctest.Wait()
		if s := c.Status(); s != (ModelStatus{}) {
			t.Errorf("status %+v", s)
		}
		c.Close()
		if _, err := c.Catalog(t.Context(), "me"); chat.AsError(err).Kind != chat.ShuttingDown {
			t.Errorf("after Close: %v", err)
		}
	})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if err := NewModelCache(ModelCacheConfig{Dir: filepath.Join(dir, "none")}).Forget(); err != nil {
		t.Error(err)
	}
}

// The list of one account is never shown to another.
func TestModelsOfAnotherAccount(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeModels("mine")
		f.delay = time.Second
		c := newModelCache(t, f, dir)
		go c.Refresh(t.Context(), "me")
		synctest.Wait()
		f.serve("yours")
		if got := ids(t, c, "you"); got != "yours" {
			t.Errorf("you see %q", got)
		}
		f.serve("mine")
		if got := ids(t, c, "me"); got != "mine" {
			t.Errorf("I see %q", got)
		}
	})
}

func TestModelsWhereNothingCanBeStored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := newModelCache(t, newFakeModels("a"), filepath.Join(file, "below"))
	if got := ids(t, c, "me"); got != "a" {
		t.Error(got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestModelCallThroughTheAccount(t *testing.T) {
	f := newFakeCursor(t)
	a := loadAnswers(t)
	for method, body := range map[string]json.RawMessage{methodAvailable: a.Available, methodUsable: a.Usable} {
		f.faults["/"+method] = func(w http.ResponseWriter) { _, _ = w.Write(body) }
	}
	cfg := f.config(t, nil)
	c := NewModelCache(ModelCacheConfig{Call: NewModelCall(cfg.Client, cfg.Hosts)})
	defer c.Close()
	catalog, err := c.Catalog(t.Context(), "me")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := catalog.Resolve("claude-opus-5-5", "high"); err != nil || s.ID != "claude-opus-5-5-high" {
		t.Errorf("%s, %v", s.ID, err)
	}
	f.set(func() { delete(f.faults, "/"+methodAvailable) }) // 401: this client has no login
	if _, err := c.Refresh(t.Context(), "me"); chat.AsError(err).Kind != chat.LoginRequired {
		t.Errorf("got %v", err)
	}
}
