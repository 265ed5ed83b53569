package agentrpc

import (
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	pb "cursortray/proxy/cursor/cursorpb"
)

// What Auto became is told with the end of the turn, and of a pause for a tool.
func TestRoutedModelIsTold(t *testing.T) {
	b := newBench(t, func(s *session) error {
		routed := &pb.InteractionUpdate{Message: &pb.InteractionUpdate_RoutedModel{RoutedModel: &pb.RoutedModelUpdate{DisplayName: "Some\n Model"}}}
		if err := s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_InteractionUpdate{InteractionUpdate: routed}}); err != nil {
			return err
		}
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		if _, err := s.result(); err != nil {
			return err
		}
		if err := s.say("done"); err != nil {
			return err
		}
		return s.end(nil)
	})
	req := toolRequest("read")
	a := b.ask(t, req)
	if a.finish == nil || a.finish.Routed != "Some Model" {
		t.Fatalf("with the call: %+v, %v", a.finish, a.err)
	}
	if a = b.ask(t, with(req, a, results(a, "milk")...)); a.finish == nil || a.finish.Routed != "Some Model" {
		t.Errorf("at the end: %+v, %v", a.finish, a.err)
	}
}

// Work without numbers cannot be told apart by one: nothing of it is forgotten.
func TestWithdrawnWorkWithoutNumbers(t *testing.T) {
	for _, c := range []struct {
		work []pendingExec
		left int
	}{
		{[]pendingExec{{execID: "a"}}, 0},
		{[]pendingExec{{execID: "a"}, {execID: "b"}}, 2},
		{[]pendingExec{{execID: "a"}, {id: 2, execID: "b"}}, 1},
		{[]pendingExec{{id: 2, execID: "b"}}, 1},
	} {
		r := &run{}
		for _, p := range c.work {
			r.work = append(r.work, &toolCall{pending: p, run: r})
		}
		r.withdraw(0)
		if len(r.work) != c.left {
			t.Errorf("of %+v %d are left, want %d", c.work, len(r.work), c.left)
		}
	}
}

// A conversation that nobody goes on with leaves the memory by itself.
func TestOldConversationsGoWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(defaultTiming(), nil)
		defer s.close()
		left := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.all())
		}
		for range 2 { // the clock starts anew for what comes later
			c := newConversation("")
			c.print = fingerprints([]chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: c.id}}}})[1]
			s.put(c)
			time.Sleep(defaultTiming().idle - time.Minute)
			if n := left(); n != 1 {
				t.Fatalf("%d conversations are left before their time", n)
			}
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if n := left(); n != 0 {
				t.Errorf("%d conversations are left", n)
			}
		}
	})
}
