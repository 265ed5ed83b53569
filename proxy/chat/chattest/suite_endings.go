package chattest

import (
	"context"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

func failures() []check {
	return []check{
		{name: "FailureBeforeOutput", run: checkFailsFirst},
		{name: "FailureAfterOutput", run: checkFailsLater},
	}
}

func checkFailsFirst(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Die{}}})
	tr := s.turn(t, instance.Backend, s.request())
	if len(tr) != 1 || tr.err() == nil {
		t.Errorf("5: an upstream that died at once gave %d events and %v", len(tr), tr.err())
	} else if kind := kindOf(tr.err()); kind == chat.Canceled || kind == chat.Invalid {
		t.Errorf("5: an upstream that died is no error of the caller: %v", tr.err())
	}
	s.settled(t, instance, "a failure")
}

func checkFailsLater(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Say{"Half an "}, Say{"answ"}, Die{}}})
	tr := s.turn(t, instance.Backend, s.request())
	if tr.text() != "Half an answ" {
		t.Errorf("1: the text is %q", tr.text())
	}
	if tr.err() == nil {
		t.Error("3: half an answer ended like a whole one")
	}
	s.settled(t, instance, "a failure")
}

func departures() []check {
	return []check{
		{name: "LeaveTheLoop", free: true, run: checkLeave},
		{name: "LeaveAtFinish", free: true, run: checkLeaveAtFinish},
		{name: "CancelInSilence", run: checkCancel},
		{name: "CancelBeforeOutput", run: checkCancelEarly},
		{name: "CancelBeforeStart", free: true, run: checkCanceledAlready},
	}
}

func checkLeave(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Say{"one"}, Hang{}}})
	ctx, cancel := context.WithTimeout(t.Context(), turnLimit)
	defer cancel()
	for _, err := range instance.Backend.Chat(ctx, s.request()) {
		if err != nil {
			t.Errorf("the turn failed: %v", err)
		}
		break
	}
	s.settled(t, instance, "the loop was left")
}

func checkLeaveAtFinish(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Say{"one"}}})
	ctx, cancel := context.WithTimeout(t.Context(), turnLimit)
	defer cancel()
	for event, err := range instance.Backend.Chat(ctx, s.request()) {
		if err != nil {
			t.Errorf("the turn failed: %v", err)
		}
		if _, ok := event.(chat.Finish); ok {
			break
		}
	}
	s.settled(t, instance, "the loop was left at Finish")
}

func checkCancel(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Say{"one"}, Hang{}}})
	ctx, cancel := context.WithTimeout(t.Context(), turnLimit)
	defer cancel()
	var at time.Time
	tr := s.watch(ctx, t, instance.Backend, s.request(), func(chat.Event) {
		at = time.Now()
		cancel()
	})
	s.canceled(t, tr, at)
	s.settled(t, instance, "a cancel")
}

func checkCancelEarly(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Hang{}}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	deadline, _ := ctx.Deadline()
	tr := s.turnIn(ctx, t, instance.Backend, s.request())
	s.canceled(t, tr, deadline)
	s.settled(t, instance, "a deadline")
}

func checkCanceledAlready(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Say{"one"}}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	at := time.Now()
	tr := s.turnIn(ctx, t, instance.Backend, s.request())
	s.canceled(t, tr, at)
	s.settled(t, instance, "a canceled start")
}

// canceled fails t unless tr ended with the right error soon after at.
func (s *suite) canceled(t *testing.T, tr transcript, at time.Time) {
	t.Helper()
	if took := time.Since(at); took > s.Patience {
		t.Errorf("6: the turn ended %v after its context", took)
	}
	if tr.err() == nil || kindOf(tr.err()) != chat.Canceled {
		t.Errorf("6: a turn whose context ended gave %v", tr.err())
	}
}

func closings() []check {
	return []check{
		{name: "CloseEndsTurns", run: checkCloseEndsTurns},
		{name: "TurnAfterClose", free: true, run: checkTurnAfterClose},
	}
}

func checkCloseEndsTurns(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Say{"one"}, Hang{}}})
	ctx, cancel := context.WithTimeout(t.Context(), turnLimit)
	defer cancel()
	var closing sync.WaitGroup
	closeTwice := sync.OnceFunc(func() {
		for range 2 {
			closing.Go(func() {
				if err := instance.Backend.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		}
	})
	tr := s.watch(ctx, t, instance.Backend, s.request(), func(chat.Event) { closeTwice() })
	closing.Wait()
	if n := instance.live(); n != 0 {
		t.Errorf("%d upstream runs outlive Close", n)
	}
	if tr.err() == nil || kindOf(tr.err()) != chat.ShuttingDown {
		t.Errorf("a turn that Close ended gave %v", tr.err())
	}
}

func checkTurnAfterClose(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Say{"one"}}})
	if err := instance.Backend.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	tr := s.turn(t, instance.Backend, s.request())
	if len(tr) != 1 || kindOf(tr.err()) != chat.ShuttingDown {
		t.Errorf("a turn after Close gave %d events and %v", len(tr), tr.err())
	}
}
