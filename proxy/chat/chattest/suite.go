package chattest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"cursortray/proxy/chat"
)

// turnLimit ends a turn that a broken back-end would never end. It is long
// because the upstream may be a process on a busy machine.
const turnLimit = 30 * time.Second

// Suite checks the contract of chat.Backend on the back-ends that h makes. The
// numbers in its messages are the points of that contract.
func Suite(t *testing.T, h Harness) {
	if h.Patience == 0 {
		h.Patience = 2 * time.Second
	}
	s := &suite{Harness: h, ids: map[string]bool{}}
	for _, group := range [][]check{answers(), failures(), departures(), closings(), tools()} {
		for _, c := range group {
			if c.tools && h.NoTools || !c.free && h.Unscripted {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				current := goleak.IgnoreCurrent()
				// Registered first, so it runs after the harness's own clean-up.
				t.Cleanup(func() { goleak.VerifyNone(t, current) })
				c.run(s, t)
			})
		}
	}
}

type check struct {
	name  string
	tools bool // needs an upstream that can ask for tools
	free  bool // holds whatever the upstream says, as long as it says something
	run   func(*suite, *testing.T)
}

type suite struct {
	Harness
	mu  sync.Mutex
	ids map[string]bool // of all calls so far: they are unique in the process
}

// start makes an instance that is closed, and found without upstream runs, at
// the end of t.
func (s *suite) start(t *testing.T, script Script) Instance {
	t.Helper()
	instance := s.New(t, script)
	t.Cleanup(func() {
		if err := instance.Backend.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if n := instance.live(); n != 0 {
			t.Errorf("6: %d upstream runs outlive Close", n)
		}
	})
	return instance
}

func (i Instance) live() int {
	if i.Live == nil {
		return 0
	}
	return i.Live()
}

// settled fails t unless the upstream runs are gone within the patience.
func (s *suite) settled(t *testing.T, instance Instance, why string) {
	t.Helper()
	if !eventually(s.Patience, func() bool { return instance.live() == 0 }) {
		t.Errorf("6: %d upstream runs %v after %s", instance.live(), s.Patience, why)
	}
}

// eventually polls, since upstream runs may be processes, which tell nobody
// when they are gone.
func eventually(limit time.Duration, ok func() bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return ok()
		}
	}
	return true
}

// turn runs one turn to its end and checks what every turn must keep.
func (s *suite) turn(t *testing.T, b chat.Backend, req *chat.Request) transcript {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnLimit)
	defer cancel()
	return s.turnIn(ctx, t, b, req)
}

func (s *suite) turnIn(ctx context.Context, t *testing.T, b chat.Backend, req *chat.Request) transcript {
	t.Helper()
	return s.watch(ctx, t, b, req, func(chat.Event) {})
}

// watch is turnIn with a look at each event as it comes.
func (s *suite) watch(ctx context.Context, t *testing.T, b chat.Backend, req *chat.Request, see func(chat.Event)) transcript {
	t.Helper()
	before := clone(req)
	var tr transcript
	for event, err := range b.Chat(ctx, req) {
		tr = append(tr, yielded{event, err})
		if err == nil {
			see(event)
		}
	}
	for _, fault := range faults(req, tr) {
		t.Errorf("%s", fault)
	}
	if diff := cmp.Diff(before, req); diff != "" {
		t.Errorf("the request was modified (-before +after):\n%s", diff)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range tr.calls() {
		if s.ids[call.ID] {
			t.Errorf("2: the call id %q came twice", call.ID)
		}
		s.ids[call.ID] = true
	}
	return tr
}

// request is what a person asks in all checks.
func (s *suite) request() *chat.Request {
	return &chat.Request{
		Model:    s.Model,
		System:   "Be brief.",
		Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: "Go on, please."}}}},
	}
}

func (s *suite) requestWithTools() *chat.Request {
	req := s.request()
	req.Tools = []chat.Tool{
		{
			Name: "read_note", Description: "Reads a note.",
			Schema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`),
		},
		{Name: "list_notes", Description: "Lists all notes.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
	return req
}

// answered is the request that follows req once the client executed the calls
// of tr.
func answered(req *chat.Request, tr transcript) *chat.Request {
	next := clone(req)
	said := chat.Message{Role: chat.Assistant}
	if text := tr.text(); text != "" {
		said.Parts = append(said.Parts, chat.Text{Text: text})
	}
	results := chat.Message{Role: chat.User}
	for _, call := range tr.calls() {
		said.Parts = append(said.Parts, chat.ToolUse{ID: call.ID, Name: call.Name, Arguments: string(call.Arguments)})
		results.Parts = append(results.Parts, chat.ToolResult{CallID: call.ID, Content: []chat.Part{chat.Text{Text: "milk, eggs"}}})
	}
	next.Messages = append(next.Messages, said, results)
	return next
}

// clone copies what a back-end could modify in the requests of this package.
func clone(req *chat.Request) *chat.Request {
	c := *req
	c.Messages = slices.Clone(req.Messages)
	for i, m := range c.Messages {
		c.Messages[i].Parts = slices.Clone(m.Parts)
	}
	c.Tools = slices.Clone(req.Tools)
	for i, tool := range c.Tools {
		c.Tools[i].Schema = slices.Clone(tool.Schema)
	}
	return &c
}

func kindOf(err error) chat.Kind { return chat.AsError(err).Kind }
