package app

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/ledger"
	"cursortray/proxy/money"
	"cursortray/proxy/spend"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// dialects are requests for a model in each dialect. Their %v is whether the
// answer is streamed.
var dialects = map[string]struct{ path, body string }{
	chat.DialectChat:      {"/chat/completions", `{"model":"m","stream":%v,"messages":[{"role":"user","content":"secret words"}]}`},
	chat.DialectResponses: {"/responses", `{"model":"m","stream":%v,"store":false,"input":"secret words"}`},
	chat.DialectMessages:  {"/messages", `{"model":"m","stream":%v,"max_tokens":9,"messages":[{"role":"user","content":"secret words"}]}`},
}

// send makes a request and reads all of the answer.
func (r *rig) send(t *testing.T, path, body string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	base := r.in(t, Running).Proxy.BaseURL
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", "req_1")
	if change != nil {
		change(req)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func withKey(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
}

// refusal is what a client sees of one, without the time of the day, which must
// be that of Retry-After.
func refusal(t *testing.T, resp *http.Response, body string) string {
	t.Helper()
	wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || wait < 1 {
		t.Errorf("Retry-After is %q", resp.Header.Get("Retry-After"))
	}
	free, told := time.Now().Add(time.Duration(wait)*time.Second), false
	for off := -2 * time.Second; off <= 2*time.Second; off += time.Second {
		for _, layout := range []string{"Jan 2, 15:04", "15:04"} {
			at := free.Add(off).Format(layout)
			if strings.Contains(body, "free again at "+at+".") {
				body, told = strings.Replace(body, "again at "+at, "again at TIME", 1), true
			}
		}
	}
	if !told {
		t.Errorf("it is free again in %d s, but the text says another time: %s", wait, body)
	}
	text := fmt.Sprintf("%d\n", resp.StatusCode)
	for _, name := range []string{"Content-Type", "X-Should-Retry"} {
		if value := resp.Header.Get(name); value != "" {
			text += name + ": " + value + "\n"
		}
	}
	return text + "\n" + strings.TrimSuffix(body, "\n") + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it); got:\n%s", path, got)
	}
}

// TestTheGuardInEveryDialect: a client learns which limit is reached, whose it
// is, what was used, when it is free again and how to lift it; lifted, the
// request is served.
func TestTheGuardInEveryDialect(t *testing.T) {
	amount, err := money.Parse("0.15")
	if err != nil {
		t.Fatal(err)
	}
	for limit, c := range map[string]struct {
		limits spend.Config
		key    string
		editor string
		spares string // a key that the limit spares
	}{
		"runs_hour": {limits: spend.Config{All: spend.Limits{RunsHour: 1}}, key: testKey},
		"runs_day":  {limits: spend.Config{Editors: map[string]spend.Limits{"": {RunsDay: 1}}}, key: testKey, spares: "codex-key"},
		"money_hour": {
			limits: spend.Config{Each: spend.Limits{MoneyHour: amount}}, key: "codex-key", editor: "codex", spares: testKey,
		},
		"money_day": {limits: spend.Config{All: spend.Limits{MoneyDay: amount}}, key: "codex-key", editor: "codex"},
	} {
		for dialect, request := range dialects {
			t.Run(limit+"/"+dialect, func(t *testing.T) {
				book := &pad{}
				r := newRig(t, func(cfg *Config) {
					cfg.Costs, cfg.Ledger, cfg.Guard, cfg.KeyOwners = flatCosts{}, book, spend.New(c.limits), owners{}
				}, end("a", chat.Stop, &chat.Usage{Input: 10, Output: 5}, nil))
				ask := func(key string, stream bool) (*http.Response, string) {
					return r.send(t, request.path, fmt.Sprintf(request.body, stream), withKey(key))
				}
				if resp, body := ask(c.key, false); resp.StatusCode != 200 {
					t.Fatalf("%d %s", resp.StatusCode, body)
				}
				r.written(t, book, 1) // what it cost is known
				var first string
				for _, stream := range []bool{false, true} {
					resp, body := ask(c.key, stream)
					got := refusal(t, resp, body)
					if first == "" {
						first = got
						golden(t, filepath.Join("guard", limit+"-"+dialect+".txt"), got)
					} else if got != first {
						t.Errorf("streamed it is\n%s", got)
					}
				}
				if c.spares != "" {
					if resp, body := ask(c.spares, false); resp.StatusCode != 200 {
						t.Errorf("another's key: %d %s", resp.StatusCode, body)
					}
				}
				r.Do(AllowSpending{For: time.Hour})
				r.until(t, "it is lifted", func(s Snapshot) bool { return !s.Guard.AllowedUntil.IsZero() })
				if resp, body := ask(c.key, false); resp.StatusCode != 200 {
					t.Errorf("lifted, but %d %s", resp.StatusCode, body)
				}
				want := []string{ledger.OK, "spend_limit_" + limit, "spend_limit_" + limit, ledger.OK}
				var got []string
				for _, e := range r.written(t, book, map[bool]int{true: 4, false: 5}[c.spares == ""]) {
					if e.Editor == c.editor {
						got = append(got, e.Outcome)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("written down is %v, want %v", got, want)
				}
			})
		}
	}
}
