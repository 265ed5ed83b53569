package modellist

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

// refuse stands for a dialect's way to answer errors.
func refuse(w http.ResponseWriter, _ *http.Request, err *chat.Error) {
	w.WriteHeader(http.StatusTeapot)
	_, _ = w.Write([]byte(err.Kind.String() + ": " + err.Message + "\n"))
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s (go test -update rewrites it)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestGoldenModels(t *testing.T) {
	b := chattest.New()
	b.SetModels([]chat.Model{
		{ID: "claude-x", Name: "Claude X", ContextWindow: 200000, MaxOutput: 64000, Images: true, Reasoning: true, Default: true,
			Group: "claude-x", MaxContextWindow: 1000000, Aliases: []string{"x-claude"},
			Price: &chat.Price{Input: "0.000004", Output: "0.00002", CacheRead: "0.0000002", CacheWrite: "0.000005"}},
		{ID: "half", Name: "Half", Price: &chat.Price{Input: "0.000002", Output: "0.000006"}},
		{ID: "unpriced", Name: "Unpriced", Price: &chat.Price{}},
		{ID: "vendor/odd:name", Name: "Odd"},
	}, nil)
	h := New(turn.Config{Backend: b}, refuse)
	get := func(name string, header http.Header, serve func(http.ResponseWriter, *http.Request)) {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/v1/models?limit=1000", nil)
		r.Header = header
		serve(w, r)
		if answered := w.Header().Get("Content-Type") == "application/json"; answered != (w.Code == http.StatusOK) {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
		checkGolden(t, name, w.Body.Bytes())
	}
	one := func(id string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { h.One(w, r, id) }
	}
	get("list", nil, h.List)
	get("list-for-claude-code", http.Header{"Anthropic-Version": {"2023-06-01"}}, h.List)
	get("one", nil, one("vendor/odd:name"))
	get("one-by-alias", nil, one("anthropic.claude-x"))
	get("one-by-other-name", nil, one("anthropic.x-claude"))
	get("unknown", nil, one("nothing"))
	b.SetModels(nil, nil)
	get("none", nil, h.List)
	b.SetModels(nil, chat.Errorf(chat.LoginRequired, "Sign in from the tray menu."))
	get("error", nil, h.List)
	get("error-one", nil, one("x"))
}

// A list that changes with each start makes clients store it again and again.
func TestModelsDoNotChangeBetweenStarts(t *testing.T) {
	var lists []string
	for _, year := range []int{2026, 2030} {
		h := New(turn.Config{Backend: chattest.New(), Now: func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }}, refuse)
		w := httptest.NewRecorder()
		h.List(w, httptest.NewRequest("GET", "/v1/models", nil))
		lists = append(lists, w.Body.String())
	}
	if lists[0] != lists[1] {
		t.Errorf("first %s\nthen  %s", lists[0], lists[1])
	}
}
