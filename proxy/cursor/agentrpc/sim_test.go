package agentrpc

import (
	"context"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// memory is a store of secrets.
type memory struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (m *memory) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.data[name]; ok {
		return value, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) Set(_ context.Context, name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.data == nil {
		m.data = make(map[string][]byte)
	}
	m.data[name] = value
	return nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.data, name)
	return nil
}

// simulated is a Backend with everything that the program gives it, before a
// simulated Cursor that checks every message.
type simulated struct {
	*Backend
	sim *simserver.Sim
}

func simulate(t *testing.T, change ...func(*Config, *timing)) *simulated {
	t.Helper()
	sim, err := simserver.Start(t.Context(), simserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	identity, err := cursor.NewIdentity(t.Context(), cursor.IdentityConfig{})
	if err != nil {
		t.Fatal(err)
	}
	plain := sim.NewTransport()
	runs := NewTransport(sim.NewTransport())
	account, err := cursor.NewAccount(cursor.AccountConfig{
		Config: cursor.Config{Client: &http.Client{Transport: plain}, Store: &memory{}}, Identity: identity})
	if err != nil {
		t.Fatal(err)
	}
	if err := account.LoginWithKey(t.Context(), simserver.DefaultKey); err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Transport: &cursor.Transport{Base: runs, Tokens: account.Tokens(), Identity: identity},
		Login:     account.Tokens(), Host: account.AgentHost(), Catalog: account.Catalog,
	}
	times := quick()
	for _, c := range change {
		c(&cfg, &times)
	}
	b := &simulated{Backend: newBackend(cfg, times), sim: sim}
	t.Cleanup(func() {
		for _, err := range []error{b.Close(), account.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
		plain.CloseIdleConnections()
		runs.CloseIdleConnections()
		for _, v := range sim.Violations() {
			t.Errorf("the simulated Cursor complains: %v", v)
		}
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *simulated) ask(t *testing.T, req *chat.Request) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return collect(b.Chat(ctx, req))
}

func asked(text string) *chat.Request {
	req := words(text)
	req.Model = ""
	return req
}

const (
	whole = "so farthe end" // the trouble was none
	again = "again"         // of the second run
)

// troubleEnds says how a request ends whose first run has a trouble: with a
// text, or with a kind of error. The troubles after some text are not here:
// they end with the kind of error that troubleKinds has.
func troubleEnds() map[string]any {
	ends := map[string]any{"no last envelope, after a checkpoint": "so far" + again}
	for end, names := range map[any][]string{
		whole: {
			"GOAWAY", "a blob that nobody has", "a checkpoint that is none", "a late blob", "a late checkpoint", "a tool that nobody offers",
			"an unknown message", "an unknown query", "arguments as plain text", "compressed frames", "empty frames", "empty texts",
			"frames cut at every byte", "frames joined", "no last envelope after the turn's end", "notices and summaries",
			"queries of every kind", "the context asked twice", "the turn ends twice", "unknown news", "unknown work", "work of every kind",
			"work withdrawn", "work without a number",
		},
		again: {
			"HTTP 401", "HTTP 403", "HTTP 500", "HTTP 503", "aborted", "bare exhausted", "blob not found", "connection reset",
			"deadline exceeded", "high load", "image not found", "internal", "no last envelope", "not logged in", "page of a hotel",
			"permission denied", "reset before an answer", "stream reset", "trailers", "unavailable", "unavailable, wait", "wrong region",
		},
		chat.BadGateway: {
			"HTTP 464", "a frame of 70 MiB", "a frame that is no message", "a frame that is not compressed", "a last envelope that is no JSON",
			"an empty last envelope", "half a frame", "half a head", "outdated client",
		},
		chat.Invalid:     {"failed precondition", "invalid argument", "parse binary"},
		chat.NotFound:    {"bad model", "not found"},
		chat.NotInPlan:   {"plan lacks model"},
		chat.QuotaSpent:  {"usage limit", "too many computers"},
		chat.RateLimited: {"HTTP 429"},
		chat.Timeout:     {"nothing but heartbeats", "silence"},
	} {
		for _, name := range names {
			ends[name] = end
		}
	}
	return ends
}

// troubleKinds has the errors of what is tried again where that is possible.
func troubleKinds() map[string]chat.Kind {
	kinds := map[string]chat.Kind{}
	for kind, names := range map[chat.Kind][]string{
		chat.BadGateway: {
			"aborted", "blob not found", "connection reset", "deadline exceeded", "image not found", "internal", "no last envelope",
			"stream reset", "wrong region",
		},
		chat.Overloaded:    {"bare exhausted", "high load", "trailers", "unavailable", "unavailable, wait"},
		chat.LoginRequired: {"not logged in", "permission denied"},
	} {
		for _, name := range names {
			kinds[name] = kind
		}
	}
	return kinds
}

// Every trouble that the simulation knows ends in the right error or in the
// right answer, and in neither case is a rule of the protocol broken.
func TestTroubles(t *testing.T) {
	b := simulate(t, func(_ *Config, times *timing) {
		times.heartbeat, times.silence, times.progress, times.question = 200*time.Millisecond, 2*time.Second, 2*time.Second, time.Second
	})
	b.sim.ChangeRunRules(func(r *simserver.RunRules) { r.ServerHeartbeat = 100 * time.Millisecond })
	b.sim.ScriptAlways(simserver.Opening(), simserver.Text(again))
	ends, kinds := troubleEnds(), troubleKinds()
	for name, trouble := range simserver.Troubles() {
		want, ok := ends[name]
		if base, after := strings.CutSuffix(name, ", after text"); after {
			if want, ok = ends[base]; want == again {
				want, ok = kinds[base], true
			}
		}
		if !ok {
			t.Errorf("nobody says how %q ends", name)
			continue
		}
		if err := b.sim.Prepare(trouble, false); err != nil {
			t.Fatal(err)
		}
		a := b.ask(t, asked("Say something about "+name))
		switch want := want.(type) {
		case string:
			if a.text != want || a.finish == nil {
				t.Errorf("%s: %q, %v; want %q", name, a.text, a.err, want)
			}
		case chat.Kind:
			if name == "connection reset, after text" && a.text == again {
				continue // the text was lost with the connection
			}
			if a.err == nil || a.err.Kind != want || a.text != "" && a.text != "so far" {
				t.Errorf("%s: %q, %v; want %v", name, a.text, a.err, want)
			}
		}
	}
}

// A conversation with calls, one by one and in parallel, in the eyes of a
// service that checks every message.
func TestConversationWithTheSimulation(t *testing.T) {
	b := simulate(t)
	req := asked("Do it.")
	req.System = "Be brief."
	req.Tools = tools("read", "write")
	b.sim.Script(simserver.Opening(), simserver.Text("I look. "), simserver.Call("read", `{"path":"/a"}`), simserver.Text("Now both. "),
		simserver.Calls(simserver.ToolCall{Name: "read", Arguments: `{"path":"/b"}`}, simserver.ToolCall{Name: "write"}),
		simserver.Text("Done."), simserver.Saved(1000, 200000, `{"role":"user","content":"Do it."}`), simserver.End(simserver.Count(10, 5, 0, 0, 0)))
	var text string
	for _, calls := range []int{1, 2, 0} {
		a := b.ask(t, req)
		if len(a.calls) != calls || a.finish == nil {
			t.Fatalf("got %+v, %v; want %d calls", a, a.err, calls)
		}
		text += a.text
		if calls > 0 {
			req = with(req, a, results(a, "some text")...)
		} else {
			req = with(req, a, chat.Text{Text: "And now?"})
		}
	}
	if text != "I look. Now both. Done." {
		t.Errorf("got %q", text)
	}
	b.sim.ScriptAlways(simserver.Opening(), simserver.Text(again), simserver.Saved(1100, 200000, `{"role":"user","content":"And now?"}`))
	for range 3 {
		a := b.ask(t, req)
		if a.text != again {
			t.Fatalf("got %+v, %v", a, a.err)
		}
		req = with(req, a, chat.Text{Text: "Go on."})
	}
	eventually(t, "the end of all four runs", func() bool { return len(b.sim.Runs()) == 4 })
}

// Twenty-five conversations that wait for tools are one too many.
func TestR16_WithTheSimulation(t *testing.T) {
	b := simulate(t)
	b.sim.ScriptAlways(simserver.Opening(), simserver.Call("read", `{}`), simserver.Text("done"))
	for range defaultMaxRuns + 3 {
		req := asked("Do it.")
		req.Tools = tools("read")
		if a := b.ask(t, req); len(a.calls) != 1 {
			t.Fatalf("got %+v, %v", a, a.err)
		}
	}
	eventually(t, "the end of the oldest runs", func() bool { return len(b.runs.opened()) == defaultMaxRuns })
}
