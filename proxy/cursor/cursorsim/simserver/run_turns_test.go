package simserver

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorpb"
)

// TestRulesBetweenTurns: what must come back unchanged.
func TestRulesBetweenTurns(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*bare)
		rules   []string
	}{
		"nothing changes":     {between: func(*bare) {}},
		"checkpoint changed":  {between: func(b *bare) { b.state = append(slices.Clone(b.state), 0x88, 1, 0) }, rules: []string{"checkpoint"}},
		"an older checkpoint": {between: func(b *bare) { b.state = []byte{} }}, // the turn counts as not made
		"context changed": {between: func(b *bare) {
			b.context = func(c *cursorpb.RequestContext) { c.Env.OsVersion = "linux 6.1.1" }
		}, rules: []string{"context-changed"}},
		"tools in another order": {between: func(b *bare) { slices.Reverse(b.tools) }, rules: []string{"context-changed"}},
		"another device": {between: func(b *bare) {
			b.header = func(h http.Header) { h.Set("X-Cursor-Checksum", checksum(time.Now())+strings.Repeat("0", 64)) }
		}, rules: []string{"device"}},
		"same message id": {between: func(b *bare) {
			b.request = func(m *cursorpb.AgentRunRequest) {
				m.Action.GetUserMessageAction().UserMessage.MessageId = firstMessage
			}
		}, rules: []string{"user-message"}},
		"a blob is lost": {between: func(b *bare) { b.blobs = map[string][]byte{} }, rules: []string{"blob-lost"}},
		"another conversation": {between: func(b *bare) {
			b.conversation, b.state = newUUID(), []byte{}
			b.context = func(c *cursorpb.RequestContext) { c.Env.OsVersion = "linux 6.1.1" }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, Options{})
			b := newBare(t, s).offer("a", readSchema).offer("b", readSchema)
			b.request = func(m *cursorpb.AgentRunRequest) {
				m.Action.GetUserMessageAction().UserMessage.MessageId = firstMessage
			}
			if got := b.run("Hi"); got.err != nil {
				t.Fatal(got.err)
			}
			b.request = nil
			c.between(b)
			b.run("Hi again")
			awaitEnd(t, s, 2)
			if rules := broken(t, s); !slices.Equal(rules, c.rules) {
				t.Errorf("broken rules %q, want %q: %v", rules, c.rules, s.Violations())
			}
		})
	}
}

const firstMessage = "0b8e6a1c-55a5-4c0a-9d8b-0d9a4f0e1b2c"

// TestContextInTheRequest: a context that comes with the request counts too.
func TestContextInTheRequest(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	no := false
	b.request = func(m *cursorpb.AgentRunRequest) {
		m.Action.GetUserMessageAction().RequestContext = &cursorpb.RequestContext{WebSearchEnabled: &no, WebFetchEnabled: &no}
	}
	s.Script(Opening())
	b.run("Hi")
	awaitEnd(t, s, 1)
	wantRules(t, s, "context-changed") // the one asked for has an environment
}

func TestRulesOfTheEnd(t *testing.T) {
	check(t, map[string]misbehaviour{
		"half-close before the turn ends": {script: []Step{Text("a"), Hang()}, edit: onText(func(run *turn) { _ = run.stream.CloseRequest() }), rules: []string{"half-close"}},
		"left open":                       {edit: func(b *bare) { b.lingers = true }, rules: []string{"left-open"}},
		"writes after the end": {script: []Step{Text("a"), End(Counters{})}, edit: func(b *bare) {
			b.lingers = true
			b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
				if m.GetInteractionUpdate().GetTurnEnded() != nil {
					b.t.Cleanup(startWriting(run))
				}
				return false
			}
		}, rules: []string{"after-end", "left-open"}},
	})
}

// startWriting sends heartbeats until the stream is gone.
func startWriting(run *turn) (wait func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for run.ctx.Err() == nil {
			<-tick.C
			run.heartbeat()
		}
	})
	return wg.Wait
}

func TestMalformedMessages(t *testing.T) {
	s := start(t, Options{})
	s.ChangeRunRules(quick)
	b := newBare(t, s)
	opening, err := cursorpb.Codec{}.Marshal(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_RunRequest{RunRequest: b.opening("Hi")}})
	if err != nil {
		t.Fatal(err)
	}
	s.Script(Until(make(chan struct{})))
	body := appendFrame(nil, 0, opening)
	body = appendFrame(body, 0, []byte{0xff})       // no message
	body = appendFrame(body, 0, []byte{0xa2, 6, 0}) // a kind that does not exist
	body = appendFrame(body, flagGzip, compress(nil))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, agent+RunPath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	model := newClient(t, s)
	r.Header = model.request(http.MethodPost, agent+RunPath, b.token, "").Header
	r.Header.Set("Content-Type", "application/connect+proto")
	r.Header.Set("Te", "trailers")
	answer, err := s.HTTPClient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	awaitEnd(t, s, 1)
	if rules := broken(t, s); !slices.Equal(rules, []string{"message", "flags"}) && !slices.Equal(rules, []string{"message", "flags", "half-close"}) {
		t.Errorf("broken rules %q: %v", rules, s.Violations())
	}
}

// movedClock is a clock for runs that stands still until a test moves it.
type movedClock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *movedClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(1_790_000_000, 0).Add(c.ahead)
}

func (c *movedClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func TestHeartbeatsAreDue(t *testing.T) {
	for name, c := range map[string]struct {
		gap   time.Duration
		beat  bool
		rules []string
	}{
		"in time":        {gap: 6 * time.Second, beat: true},
		"late":           {gap: 8 * time.Second, beat: true, rules: []string{"heartbeat-late"}},
		"never":          {gap: 8 * time.Second, rules: []string{"heartbeat-late"}},
		"not yet needed": {gap: 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var clock movedClock
			s := start(t, Options{Clock: clock.now})
			b := newBare(t, s)
			s.Script(Text("a"), func(*Run) error { clock.move(c.gap); return nil }, Text("b"), MissingBlob())
			b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
				if m.GetInteractionUpdate().GetTextDelta().GetText() == "b" && c.beat {
					run.heartbeat()
				}
				return false
			}
			b.run("Hi")
			records := awaitEnd(t, s, 1)
			if want := map[bool]int{true: 1}[c.beat]; records[0].Heartbeats != want {
				t.Errorf("%d heartbeats, want %d", records[0].Heartbeats, want)
			}
			wantRules(t, s, c.rules...)
		})
	}
}

func TestWorkInProgressShowsSignsOfLife(t *testing.T) {
	for name, beats := range map[string]bool{"with": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			var clock movedClock
			s := start(t, Options{Clock: clock.now})
			b := newBare(t, s).offer("echo", readSchema)
			onExec("mcp_args", func(run *turn, e *cursorpb.ExecServerMessage) {
				for range 2 {
					clock.move(4 * time.Second)
					if beats {
						run.execBeat(e.GetId())
						run.heartbeat()
						run.roundTrip()
					}
				}
				run.answer(result(e, "ok"))
				run.closeExec(e.GetId())
				run.heartbeat()
			})(b)
			s.Script(Opening(), func(r *Run) error {
				e, err := r.Call(ToolCall{Name: "echo", Bare: true})
				for range 4 { // two for each roundTrip
					if err == nil {
						_, _, err = r.GetBlob(BlobID(nil))
					}
				}
				if err == nil {
					_, err = e.Wait()
				}
				return err
			})
			b.run("Hi")
			record := awaitEnd(t, s, 1)[0]
			if got := record.Execs[1].Beats; beats && got != 2 {
				t.Errorf("%d signs of life, want 2", got)
			}
			if rules := broken(t, s); beats && len(rules) > 0 || !beats && !slices.Contains(rules, "exec-heartbeat") {
				t.Errorf("broken rules %q", rules)
			}
		})
	}
}

// roundTrip answers a blob request, after which the server has seen all that
// was sent before.
func (t *turn) roundTrip() {
	m, err := t.stream.Receive()
	if err != nil {
		return
	}
	t.take(m)
	if next, err := t.stream.Receive(); err == nil { // asked after the answer came
		t.take(next)
	}
}

// TestHeartbeatsDoNotOvertake: see TestSlowReader for a client that is right.
func TestHeartbeatsDoNotOvertake(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	ids := [][]byte{BlobID([]byte("a")), BlobID([]byte("b"))}
	asked := make(chan struct{})
	s.Script(StopReading(), RequestBlobs(ids...), Until(asked), ReadAgain())
	n := 0
	b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
		if m.GetKvServerMessage() == nil {
			return false
		}
		if n++; n == 2 {
			close(asked)
			run.heartbeat() // after the first answer, before the second
		}
		run.take(m)
		return true
	}
	b.run("Hi")
	awaitEnd(t, s, 1)
	wantRules(t, s, "heartbeat-overtakes")
}

func TestRunsThatOverlap(t *testing.T) {
	s := start(t, Options{})
	s.ChangeRunRules(func(r *RunRules) { r.Closing, r.MaxOpen = 50*time.Millisecond, 2 })
	stay := make(chan struct{})
	s.ScriptAlways(Text("a"), Until(stay))
	talk := newBare(t, s)
	open := func(b *bare) *turn {
		run := b.open("Hi")
		for run.text == "" && run.next() {
		}
		return run
	}
	first := open(talk)
	second := open(talk)
	awaitRule(t, s, "conversation-twice")
	third := open(newBare(t, s))
	awaitRule(t, s, "open-runs")
	close(stay)
	for _, run := range []*turn{first, second, third} {
		run.play()
	}
	if stats := s.RunStats(); stats.MaxOpen != 3 || stats.Total != 3 {
		t.Errorf("counters %+v", stats)
	}
	awaitEnd(t, s, 3)
	wantRules(t, s, "conversation-twice", "open-runs")
}

// TestRunsThatReplaceAnother: the old run may end a moment later.
func TestRunsThatReplaceAnother(t *testing.T) {
	s := start(t, Options{})
	stay := make(chan struct{})
	s.ScriptAlways(Text("a"), Until(stay))
	b := newBare(t, s)
	first := b.open("Hi")
	for first.text == "" && first.next() {
	}
	second := b.open("Hi")
	for second.text == "" && second.next() {
	}
	first.leave()
	ctx := t.Context()
	if err := s.AwaitRuns(ctx, func(stats RunStats) bool { return stats.Open == 1 }); err != nil {
		t.Fatal(err)
	}
	close(stay)
	second.play()
	awaitEnd(t, s, 2)
	wantRules(t, s)
}

func awaitRule(t *testing.T, s *Sim, rule string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-tick.C {
		if slices.Contains(broken(t, s), rule) {
			return
		}
	}
	t.Fatalf("rule %s was not broken: %v", rule, s.Violations())
}

// TestWireVectors: frames as independent encoders write them.
func TestWireVectors(t *testing.T) {
	for want, message := range map[string]*cursorpb.InteractionUpdate{
		"000000000b0a090a070a0548656c6c6f": {Message: &cursorpb.InteractionUpdate_TextDelta{TextDelta: &cursorpb.TextDeltaUpdate{Text: "Hello"}}},
		"00000000080a0622040a02686d":       {Message: &cursorpb.InteractionUpdate_ThinkingDelta{ThinkingDelta: &cursorpb.ThinkingDeltaUpdate{Text: "hm"}}},
		"000000000e0a0c720a08641014183c20002807": {Message: &cursorpb.InteractionUpdate_TurnEnded{
			TurnEnded: Count(100, 20, 60, 0, 7).update(),
		}},
	} {
		frame, err := encodeUpdate(message)
		if got := hex.EncodeToString(frame); err != nil || got != want {
			t.Errorf("frame %s, want %s", got, want)
		}
	}
	if got := hex.EncodeToString(appendFrame(nil, flagEndStream, (&RunError{Code: "unauthenticated", Message: "x"}).endStream())); got !=
		"02000000327b226572726f72223a7b22636f6465223a22756e61757468656e74696361746564222c226d657373616765223a2278227d7d" {
		t.Errorf("last envelope %s", got)
	}
}

func TestDemonstration(t *testing.T) {
	d, err := Demonstrate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	d.ChangeRunRules(func(r *RunRules) { r.Pace = 0 })
	web := &client{t: t, http: &http.Client{Transport: d.Transport}, now: time.Now}
	web.post("/aiserver.v1.ServerConfigService/GetServerConfig", d.Tokens.Access, `{"telem_enabled":false}`).want(t, 200, agent)
	b := newBare(t, d.Sim)
	b.http, b.token, b.model = &http.Client{Transport: d.Transport}, d.Tokens.Access, "demo-small"
	if got := b.run("Who are you?"); got.err != nil || !strings.Contains(got.text, "simulated") {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	wantRules(t, d.Sim)
}
