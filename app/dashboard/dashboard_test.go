package dashboard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cursortray/app"
	"cursortray/proxy/chat"
	"cursortray/proxy/ledger"
	"cursortray/proxy/money"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const localKey = "ct-the-main-key-of-the-tests"

// instance is an App whose state a test sets.
type instance struct {
	mu      sync.Mutex
	snap    app.Snapshot
	watches []chan app.Snapshot
	asked   []app.Action
	logins  []string // keys
	refused error    // what becomes of them
}

func (i *instance) LoginWithKey(_ context.Context, key string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.logins = append(i.logins, key)
	return i.refused
}

func (i *instance) Snapshot() app.Snapshot {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.snap
}

func (i *instance) Watch(context.Context) <-chan app.Snapshot {
	i.mu.Lock()
	defer i.mu.Unlock()
	ch := make(chan app.Snapshot, 16)
	ch <- i.snap
	i.watches = append(i.watches, ch)
	return ch
}

func (i *instance) Do(a app.Action) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = append(i.asked, a)
}

func (i *instance) actions() []app.Action {
	i.mu.Lock()
	defer i.mu.Unlock()
	asked := i.asked
	i.asked = nil
	return asked
}

func (i *instance) publish(s app.Snapshot) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.snap = s
	for _, ch := range i.watches {
		ch <- s
	}
}

type keys struct{}

func (keys) Key(context.Context) (string, error)    { return localKey, nil }
func (keys) NewKey(context.Context) (string, error) { return localKey, nil }
func (keys) Reload()                                {}

// book is a ledger with the same few entries each day.
type book struct{ err error }

func (b book) Sum(_ context.Context, by ledger.By, since, until time.Time) ([]ledger.Row, error) {
	cents := money.OfCents(float64(until.Sub(since).Hours()))
	switch by {
	case ledger.Day:
		return []ledger.Row{{Key: "2026-11-29", Requests: 4, Cost: cents}, {Key: "2026-11-30", Requests: 2, Failed: 1, Unpriced: 1}}, b.err
	case ledger.Editor:
		return []ledger.Row{{Key: "", Requests: 3, Cost: cents}, {Key: "codex", Requests: 3, Unpriced: 3}}, b.err
	}
	return []ledger.Row{{Key: "demo-large", Requests: 6, Input: 1200, Output: 88_000, CacheRead: 3_400_000, Cost: cents}, {Key: "<b>odd</b>", Requests: 1}}, b.err
}

func (b book) Recent(context.Context, int) ([]ledger.Entry, error) {
	return []ledger.Entry{
		{At: noon, Editor: "codex", Model: "demo-large", Dialect: "responses", Backend: "agent", Outcome: ledger.OK, Input: 1000, CacheRead: 200, Output: 80, Cost: "0.0213", Context: 18_200, Window: 200_000, Took: 3200 * time.Millisecond},
		{At: noon, Model: "<script>alert(1)</script>", Dialect: "chat", Outcome: "quota_spent", Took: 90 * time.Millisecond},
		{At: noon, Outcome: ledger.Cancelled, Took: 80 * time.Second},
		{At: noon, Outcome: "something_new"},
		{At: noon, Outcome: ledger.OK, Paused: true},
	}, b.err
}

// manual is how editors are set up.
type manual struct{}

func (manual) ByHand(_ context.Context, id string, key bool) (ByHand, error) {
	text := "api_key = YOUR_KEY"
	if key {
		text = "api_key = " + localKey
	}
	return ByHand{Texts: []Text{{For: "~/." + id, Body: text}}, Steps: []string{"Restart " + id + "."}}, nil
}

// drawer is a settings file.
type drawer struct {
	mu  sync.Mutex
	set map[string]string
}

func (d *drawer) Path() string { return "/home/ada/.config/cursortray/config.toml" }

func (d *drawer) List() []Setting {
	d.mu.Lock()
	defer d.mu.Unlock()
	value := func(key, otherwise string) string {
		if v, ok := d.set[key]; ok {
			return v
		}
		return otherwise
	}
	return []Setting{
		{Key: "addr", Doc: "Where.", Values: "HOST:PORT", Value: value("addr", "127.0.0.1:8765")},
		{Key: "backend", Doc: "How.", Choices: []string{"auto", "agent", "cli"}, Value: value("backend", "auto")},
		{Key: "start_proxy", Doc: "When.", Choices: []string{"true", "false"}, Value: value("start_proxy", "true"), Pending: true},
		{Key: "notifications", Doc: "Which.", Value: value("notifications", "login, port")},
		{Key: "default_model", Doc: "Model.", Value: value("default_model", "")},
		{Key: "api_key", Doc: "Key.", Secret: true, Has: true},
		{Key: "log_level", Doc: "Much.", Choices: []string{"debug", "info"}, Value: "debug", Env: "CURSORTRAY_LOG_LEVEL"},
		{Key: "brand_new", Doc: "New.", Value: "x"},
	}
}

func (d *drawer) Set(key, value string) error {
	if key == "addr" && !strings.Contains(value, ":") {
		return errors.New("addr: must be HOST:PORT, such as 127.0.0.1:8765")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set[key] = value
	return nil
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// testClock is a time that a test moves.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rig is a dashboard on a port, and a browser without scripts.
type rig struct {
	*Dashboard
	t       *testing.T
	app     *instance
	drawer  *drawer
	clock   *testClock
	server  *httptest.Server
	browser *http.Client
}

func newRig(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{
		t: t, app: &instance{snap: healthy()}, drawer: &drawer{set: map[string]string{}},
		clock: &testClock{now: noon},
	}
	cfg := Config{
		App: r.app, Keys: keys{}, Ledger: book{}, Manuals: manual{}, Settings: r.drawer, Now: r.clock.Now,
		Diagnose: func(context.Context) Report {
			return Report{Text: "cursortray 9.9", Findings: []Finding{
				{"port", "ok", "it listens", ""}, {"clock", "warn", "off by 3m", "set the clock"}, {"login", "fail", "logged out", "cursortray login"},
			}}
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if r.Dashboard, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(r.Dashboard)
	t.Cleanup(r.server.Close)
	r.browser = r.newBrowser()
	return r
}

func (r *rig) newBrowser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Transport: r.server.Client().Transport}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	path   string // where the redirects led
}

func (r *rig) send(req *http.Request) answer {
	r.t.Helper()
	resp, err := r.browser.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body), resp.Request.URL.RequestURI()}
}

func (r *rig) get(path string) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.server.URL+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.send(req)
}

// enter opens a page by a link of its own.
func (r *rig) enter(page string) answer {
	r.t.Helper()
	path, err := r.Link(page)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.get(path)
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// press sends the form of a button as a browser does, with changes.
func (r *rig) press(page, action string, change func(url.Values, *http.Request)) answer {
	r.t.Helper()
	found := csrfField.FindStringSubmatch(r.get(Root + page).body)
	if found == nil {
		r.t.Fatalf("the page %s has no form", page)
	}
	values := url.Values{"csrf": {found[1]}, "page": {page}, "action": {action}}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.server.URL+Root+"do", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Origin", r.server.URL)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if change != nil {
		change(values, req)
	}
	text := values.Encode()
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	return r.send(req)
}

// healthy is a state in which all is well.
func healthy() app.Snapshot {
	plan := app.PlanStatus{Title: "Cursor Pro · resets 3 Dec"}
	plan.Lines[0] = app.PlanLine{Label: "Other models", Value: "28.6%"}
	plan.Lines[1] = app.PlanLine{Label: "Included", Value: "$12.88 of $20.00"}
	return app.Snapshot{
		Version: "9.9",
		Proxy:   app.ProxyStatus{State: app.Running, Addr: "127.0.0.1:8765", BaseURL: "http://127.0.0.1:8765/v1"},
		Backend: app.BackendStatus{Name: "Cursor protocol", Choice: "auto", Reason: "logged in to Cursor"},
		Account: app.AccountStatus{State: app.LoggedIn, Email: "ada@example.com", Storage: "keychain"},
		Plan:    plan,
		Models: app.ModelsStatus{List: &app.ModelList{IDs: 4, Families: []app.Family{
			{ModelEntry: app.ModelEntry{ID: "gpt-large", Name: "GPT Large", Price: "$10 / $30", Window: 400_000, MaxWindow: 1_000_000, Default: true},
				Variants: []app.ModelEntry{{ID: "gpt-large-high", Name: "GPT Large High"}}},
			{ModelEntry: app.ModelEntry{ID: "auto", Name: "Auto"}},
			{ModelEntry: app.ModelEntry{ID: "sonnet", Name: "Sonnet", Price: "$3 / $15", Window: 200_000}},
		}}},
		Editors: &app.EditorList{All: []app.EditorStatus{
			{ID: "codex", Name: "Codex", Found: true, State: "set up", Keyed: true, LastUsed: noon.Add(-time.Hour), Runs: 3},
			{ID: "zed", Name: "Zed", Found: true, State: "not set up"},
			{ID: "kilo", Name: "Kilo Code", Found: true, State: "changed", Keyed: true, Off: true},
			{ID: "pi", Name: "pi", Found: true, State: "broken"},
			{ID: "other", Name: "Another client", State: "by hand"},
		}},
		Conversations: &app.ConversationList{All: []app.Conversation{
			{N: 2, Model: "gpt-large", Turns: 3, Last: noon.Add(-time.Minute), Cost: money.OfCents(139),
				Context: &chat.Context{Used: 84_250, Max: 200_000, Parts: []chat.ContextPart{{ID: "tools", Label: "Tools", Tokens: 9000}, {ID: "chat", Tokens: 70_000}}},
				Course:  []app.ContextPoint{{Used: 20_000, Max: 200_000}, {Used: 84_250, Max: 200_000}}},
			{N: 1, Model: "sonnet", Turns: 1, Last: noon.Add(-3 * time.Hour), Context: &chat.Context{Used: 300, Stale: true}},
		}},
	}
}
