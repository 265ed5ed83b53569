package agentrpc

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	pb "cursortray/proxy/cursor/cursorpb"
)

// toolTurn asks for tools with the exec numbers from 1 on, waits for all
// results and repeats their texts.
func toolTurn(names ...string) func(*session) error {
	return func(s *session) error {
		if len(s.request.GetConversationState()) > 0 || len(s.request.GetPreFetchedBlobs()) > 0 {
			return plainTurn("from history")(s)
		}
		for i, name := range names {
			if err := s.call(uint32(i+1), name, map[string]any{"path": fmt.Sprint("/", i+1)}); err != nil {
				return err
			}
		}
		got := make([]string, len(names))
		for range names {
			r, err := s.result()
			if err != nil {
				return err
			}
			got[r.GetId()-1] = saidResult(r)
		}
		if err := s.say(strings.Join(got, "|")); err != nil {
			return err
		}
		return s.end(&pb.TurnEndedUpdate{InputTokens: proto.Int64(9), OutputTokens: proto.Int64(1)})
	}
}

func saidResult(r *pb.ExecClientMessage) string {
	if e := r.GetMcpResult().GetError(); e != nil {
		return "error: " + e.GetError()
	}
	var text string
	for _, c := range r.GetMcpResult().GetSuccess().GetContent() {
		text += c.GetText().GetText()
	}
	return text
}

func toolRequest(names ...string) *chat.Request {
	req := words("Do it")
	req.Tools = tools(names...)
	return req
}

func TestHeldRun(t *testing.T) {
	b := newBench(t, toolTurn("read"))
	req := toolRequest("read")
	a := b.ask(t, req)
	if len(a.calls) != 1 || a.calls[0].Name != "read" || string(a.calls[0].Arguments) != `{"path":"/1"}` || len(a.calls[0].ID) > 40 {
		t.Fatalf("got %+v", a)
	}
	if a.finish == nil || a.finish.Reason != chat.ToolCalls {
		t.Fatalf("finish %+v, %v", a.finish, a.err)
	}
	a2 := b.ask(t, with(req, a, results(a, "milk")...))
	if a2.text != "milk" || len(b.service.seen()) != 1 {
		t.Errorf("got %+v after %d runs", a2, len(b.service.seen()))
	}
	eventually(t, "the end of the run", func() bool { return len(b.runs.opened()) == 0 })
}

func TestR14_UsageComesOnceAtTheEnd(t *testing.T) {
	b := newBench(t, toolTurn("read"))
	req := toolRequest("read")
	a := b.ask(t, req)
	if a.finish.Usage != nil {
		t.Errorf("usage at the tool boundary: %+v", a.finish.Usage)
	}
	a2 := b.ask(t, with(req, a, results(a, "milk")...))
	if a2.finish == nil || a2.finish.Usage == nil || *a2.finish.Usage != (chat.Usage{Input: 9, Output: 1}) {
		t.Errorf("usage at the end: %+v", a2.finish)
	}
}

// Parallel calls come in one answer, and their results go back in any order.
func TestParallelCalls(t *testing.T) {
	b := newBench(t, toolTurn("read", "write", "read"))
	req := toolRequest("read", "write")
	a := b.ask(t, req)
	if len(a.calls) != 3 {
		t.Fatalf("%d calls in the first answer: %+v", len(a.calls), a)
	}
	parts := []chat.Part{}
	for i := range a.calls {
		c := a.calls[len(a.calls)-1-i]
		parts = append(parts, chat.ToolResult{CallID: c.ID, Content: []chat.Part{chat.Text{Text: string(c.Arguments)}}})
	}
	a2 := b.ask(t, with(req, a, parts...))
	if want := `{"path":"/1"}|{"path":"/2"}|{"path":"/3"}`; a2.text != want {
		t.Errorf("got %q, want %q", a2.text, want)
	}
}

// A result that does not come would leave the run waiting.
func TestMissingResultIsAnError(t *testing.T) {
	b := newBench(t, toolTurn("read", "write"))
	req := toolRequest("read", "write")
	a := b.ask(t, req)
	a2 := b.ask(t, with(req, a, results(answer{calls: a.calls[:1]}, "milk")...))
	if !strings.HasPrefix(a2.text, "milk|") || !strings.Contains(a2.text, "not provided") && a2.text != "milk|" {
		t.Errorf("got %+v", a2)
	}
}

func TestSerialToolsComeOneByOne(t *testing.T) {
	b := newBench(t, toolTurn("read", "write"))
	req := toolRequest("read", "write")
	req.SerialTools = true
	a := b.ask(t, req)
	if len(a.calls) != 1 || a.calls[0].Name != "read" {
		t.Fatalf("got %+v", a)
	}
	req2 := with(req, a, results(a, "milk")...)
	a2 := b.ask(t, req2)
	if len(a2.calls) != 1 || a2.calls[0].Name != "write" {
		t.Fatalf("got %+v", a2)
	}
	a3 := b.ask(t, with(req2, a2, results(a2, "eggs")...))
	if a3.text != "milk|eggs" || len(b.service.seen()) != 1 {
		t.Errorf("got %+v", a3)
	}
}

// A call that comes when the answer is over opens the next one.
func TestLateCallOpensTheNextAnswer(t *testing.T) {
	late := make(chan struct{})
	b := newBench(t, func(s *session) error {
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		<-late
		if err := s.call(2, "write", nil); err != nil {
			return err
		}
		for range 2 {
			if _, err := s.result(); err != nil {
				return err
			}
		}
		return plainTurn("both")(s)
	})
	req := toolRequest("read", "write")
	a := b.ask(t, req)
	if len(a.calls) != 1 {
		t.Fatalf("got %+v", a)
	}
	close(late)
	req2 := with(req, a, results(a, "milk")...)
	a2 := b.ask(t, req2)
	if len(a2.calls) != 1 || a2.calls[0].Name != "write" {
		t.Fatalf("got %+v", a2)
	}
	if a3 := b.ask(t, with(req2, a2, results(a2, "eggs")...)); a3.text != "both" {
		t.Errorf("got %+v", a3)
	}
}

// The service's blobs and questions are served while the client works, and
// signs of life are sent.
func TestHeldRunIsServed(t *testing.T) {
	served := make(chan struct{})
	b := newBench(t, func(s *session) error {
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		<-time.After(150 * time.Millisecond) // the first answer is over
		if err := s.setBlob(5, []byte("key"), []byte("data")); err != nil {
			return err
		}
		if m, err := s.next(); err != nil || m.GetKvClientMessage().GetSetBlobResult() == nil {
			return failure(3)
		}
		if err := s.getBlob(6, []byte("key")); err != nil {
			return err
		}
		if m, err := s.next(); err != nil || string(m.GetKvClientMessage().GetGetBlobResult().GetBlobData()) != "data" {
			return failure(3)
		}
		if n := s.beats.Load(); n < 4 {
			t.Errorf("%d signs of life", n)
		}
		close(served)
		if _, err := s.result(); err != nil {
			return err
		}
		return plainTurn("served")(s)
	}, func(_ *Config, times *timing) {
		times.heartbeat, times.execHeartbeat = 20*time.Millisecond, 15*time.Millisecond
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	<-served
	if a2 := b.ask(t, with(req, a, results(a, "milk")...)); a2.text != "served" {
		t.Errorf("got %+v, %v", a2, a2.err)
	}
}

// Deltas that come after the result are read without the pump.
func TestReadingComesBackToTheTurn(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		if _, err := s.result(); err != nil {
			return err
		}
		for range 100 {
			if err := s.say("x"); err != nil {
				return err
			}
		}
		return s.end(nil)
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	n, direct := 0, 0
	for e, err := range b.Chat(t.Context(), with(req, a, results(a, "milk")...)) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(chat.TextDelta); ok {
			n++
			r := b.runs.opened()[0]
			r.mu.Lock()
			if !r.held.pumping {
				direct++
			}
			r.mu.Unlock()
		}
	}
	if n != 100 || direct < 98 {
		t.Errorf("%d deltas, %d of them read by the turn", n, direct)
	}
}

// The same request sent again, after its answer or while it is on its way, gets
// the same answer, and the result goes out once.
func TestClaimedOnce(t *testing.T) {
	goOn := make(chan struct{})
	b := newBench(t, func(s *session) error {
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		r, err := s.result()
		if err != nil {
			return err
		}
		<-goOn
		return plainTurn(saidResult(r))(s)
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	req2 := with(req, a, results(a, "milk")...)
	var asked sync.WaitGroup
	for range 4 {
		asked.Go(func() {
			if a2 := b.ask(t, req2); a2.text != "milk" || a2.finish == nil {
				t.Errorf("got %+v", a2)
			}
		})
	}
	close(goOn)
	asked.Wait()
	if a3 := b.ask(t, req2); a3.text != "milk" || a3.finish == nil || a3.finish.Usage != nil && a3.finish.Usage.Output < 0 {
		t.Errorf("got %+v", a3)
	}
	if n := len(b.service.seen()); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// The first client left in the middle, so there is no answer to repeat.
func TestClaimThatFailedIsAnsweredFromHistory(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if s.n > 1 {
			return plainTurn("again")(s)
		}
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		if _, err := s.result(); err != nil {
			return err
		}
		if err := s.say("half"); err != nil {
			return err
		}
		return s.hang()
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	req2 := with(req, a, results(a, "milk")...)
	for range b.Chat(t.Context(), req2) {
		break
	}
	if a2 := b.ask(t, req2); a2.text != "again" {
		t.Errorf("got %+v", a2)
	}
}

// With a checkpoint that has the results and nothing of the answer, the same
// request goes on from there.
func TestClaimThatFailedResumes(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if s.n > 1 {
			return plainTurn("resumed")(s)
		}
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		if _, err := s.result(); err != nil {
			return err
		}
		if err := s.checkpoint(used(1, 2)); err != nil {
			return err
		}
		if err := s.say("half"); err != nil {
			return err
		}
		return s.hang()
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	req2 := with(req, a, results(a, "milk")...)
	for range b.Chat(t.Context(), req2) {
		break
	}
	eventually(t, "the end of the first run", func() bool { return b.service.live.Load() == 0 && len(b.runs.opened()) == 0 })
	a2 := b.ask(t, req2)
	runs := b.service.seen()
	if a2.text != "resumed" || len(runs) != 2 || runs[1].GetAction().GetResumeAction() == nil || runs[1].GetConversationId() != runs[0].GetConversationId() {
		t.Errorf("got %+v, the run %v", a2, runs[len(runs)-1].GetAction())
	}
}

// Results whose run is gone are answered from the history.
func TestRS3_ResultOfARunThatIsGone(t *testing.T) {
	for name, lose := range map[string]func(*bench){
		"cut": func(b *bench) { b.server.CloseClientConnections() },
		"forgotten": func(b *bench) {
			b.Forget()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, toolTurn("read"))
			req := toolRequest("read")
			a := b.ask(t, req)
			lose(b)
			eventually(t, "the end of the held run", func() bool { return len(b.runs.opened()) == 0 })
			if a2 := b.ask(t, with(req, a, results(a, "milk")...)); a2.text != "from history" {
				t.Errorf("got %+v", a2)
			}
		})
	}
}

// An id that nobody knows, from another program or another day, is no error.
func TestUnknownResult(t *testing.T) {
	b := newBench(t, toolTurn("read"))
	req := toolRequest("read")
	a := answer{calls: []chat.ToolCall{{ID: "call_other_0", Name: "read", Arguments: []byte(`{}`)}}}
	if a2 := b.ask(t, with(req, a, results(a, "milk")...)); a2.text != "from history" {
		t.Errorf("got %+v", a2)
	}
}

func TestToolResultThatNeverComes(t *testing.T) {
	b := newBench(t, toolTurn("read"), func(_ *Config, times *timing) { times.tool = 50 * time.Millisecond })
	b.ask(t, toolRequest("read"))
	eventually(t, "the end of the held run", func() bool { return len(b.runs.opened()) == 0 && b.service.live.Load() == 0 })
	if n := len(b.runs.calls); n != 0 {
		t.Errorf("%d calls are still known", n)
	}
}

// What the service takes back gets no answer.
func TestWithdrawnWork(t *testing.T) {
	withdrawn, brought := make(chan struct{}), make(chan struct{})
	var answers int
	b := newBench(t, func(s *session) error {
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		<-withdrawn
		if err := s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_ExecServerControlMessage{
			ExecServerControlMessage: &pb.ExecServerControlMessage{Message: &pb.ExecServerControlMessage_Abort{Abort: &pb.ExecServerAbort{Id: 1}}}}}); err != nil {
			return err
		}
		<-brought
		if err := s.say("never mind"); err != nil {
			return err
		}
		// Whatever was sent before this answer has come.
		if err := s.getBlob(1, []byte("x")); err != nil {
			return err
		}
		for m, err := s.next(); ; m, err = s.next() {
			if err != nil {
				return err
			}
			if m.GetKvClientMessage() != nil {
				return s.end(nil)
			}
			answers++
		}
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	close(withdrawn)
	eventually(t, "the withdrawal", func() bool { return len(b.runs.opened()[0].pending()) == 0 })
	time.AfterFunc(50*time.Millisecond, func() { close(brought) })
	a2 := b.ask(t, with(req, a, results(a, "milk")...))
	if a2.text != "never mind" || answers != 0 {
		t.Errorf("got %+v after %d answers", a2, answers)
	}
}

// The turn is over for the client, but nobody brings its results to a service
// that has stopped to wait for them.
func TestTurnThatEndsWithoutResults(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if s.n > 1 {
			return plainTurn("from history")(s)
		}
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		return s.end(nil)
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	if len(a.calls) != 1 || a.finish == nil || a.finish.Reason != chat.ToolCalls {
		t.Fatalf("got %+v", a)
	}
	if a2 := b.ask(t, with(req, a, results(a, "milk")...)); a2.text != "from history" {
		t.Errorf("got %+v", a2)
	}
}

// A call that is lost with its connection within the window is executed and
// comes back.
func TestRunThatBreaksAfterItsCall(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if s.n > 1 {
			return plainTurn("from history")(s)
		}
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		return failure(13)
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	if len(a.calls) != 1 || a.finish == nil || a.finish.Reason != chat.ToolCalls {
		t.Fatalf("got %+v %v", a, a.err)
	}
	if a2 := b.ask(t, with(req, a, results(a, "milk")...)); a2.text != "from history" {
		t.Errorf("got %+v", a2)
	}
}

func TestCloseEndsHeldRuns(t *testing.T) {
	b := newBench(t, toolTurn("read"))
	b.ask(t, toolRequest("read"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if n := b.service.live.Load(); n != 0 {
		t.Errorf("%d runs outlive Close", n)
	}
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Kind != chat.ShuttingDown {
		t.Errorf("got %+v", a)
	}
	if err := b.Check(t.Context()); chat.AsError(err).Kind != chat.ShuttingDown {
		t.Errorf("Check says %v", err)
	}
}
