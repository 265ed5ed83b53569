package agentrpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pb "cursortray/proxy/cursor/cursorpb"
)

// paper is what an outbox wrote, with the time since its start.
type paper struct {
	start time.Time
	lines []string
	block chan struct{} // writes wait for it, if it is there
	open  []pendingExec
	taken atomic.Int64 // when, since start
	dead  bool
	ended bool
}

func (p *paper) send(m *pb.AgentClientMessage) error {
	if p.block != nil {
		<-p.block
	}
	if p.dead {
		return errors.New("closed")
	}
	name := "reply"
	switch {
	case m.GetClientHeartbeat() != nil:
		name = "beat"
	case m.GetConversationAction() != nil:
		name = "cancel"
	case m.GetExecClientControlMessage().GetHeartbeat() != nil:
		name = fmt.Sprint("exec ", m.GetExecClientControlMessage().GetHeartbeat().GetId())
	case m.GetKvClientMessage() != nil:
		name = fmt.Sprint("kv ", m.GetKvClientMessage().GetId())
	}
	p.lines = append(p.lines, fmt.Sprint(name, " ", time.Since(p.start)))
	return nil
}

func startOutbox(p *paper, stalled func()) (*outbox, func()) {
	p.start = time.Now()
	o := newOutbox(&outbox{send: p.send, close: func() error { p.ended = true; return nil }, pending: func() []pendingExec { return p.open },
		stalled: stalled, tick: func() {}, taken: func() time.Duration { return time.Since(p.start) - time.Duration(p.taken.Load()) }, times: defaultTiming()})
	ctx, stop := context.WithCancel(context.Background())
	go o.run(ctx)
	return o, func() { stop(); <-o.done }
}

func kvReply(id uint32) *pb.AgentClientMessage {
	return &pb.AgentClientMessage{Message: &pb.AgentClientMessage_KvClientMessage{KvClientMessage: &pb.KvClientMessage{Id: id}}}
}

func TestHeartbeatsOfRunAndWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{open: []pendingExec{{id: 7}}}
		_, stop := startOutbox(p, nil)
		time.Sleep(12*time.Second + time.Millisecond)
		stop()
		want := []string{"exec 7 3s", "beat 5s", "exec 7 6s", "exec 7 9s", "beat 10s", "exec 7 12s"}
		if !slices.Equal(p.lines, want) {
			t.Errorf("got %q, want %q", p.lines, want)
		}
	})
}

func TestR12_AnswersGoBeforeHeartbeatsAndOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{block: make(chan struct{}), open: []pendingExec{{id: 7}}}
		o, stop := startOutbox(p, func() {})
		o.put(t.Context(), kvReply(1))
		synctest.Wait()
		for id := range uint32(3) {
			o.put(t.Context(), kvReply(id+2))
		}
		time.Sleep(7 * time.Second) // heartbeats of both kinds are due
		for range 6 {
			p.block <- struct{}{}
			synctest.Wait()
		}
		close(p.block)
		stop()
		want := []string{"kv 1 7s", "kv 2 7s", "kv 3 7s", "kv 4 7s"}
		if len(p.lines) != 6 || !slices.Equal(p.lines[:4], want) {
			t.Errorf("got %q, want %q and then heartbeats", p.lines, want)
		}
	})
}

func TestOutboxSaysThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		var after time.Duration
		o, stop := startOutbox(p, func() { after = time.Since(p.start); p.dead = true; close(p.block) })
		o.put(t.Context(), kvReply(1))
		synctest.Wait()
		p.block = make(chan struct{})
		o.put(t.Context(), kvReply(2))
		time.Sleep(time.Minute)
		stop()
		if after != 5*time.Second {
			t.Errorf("after %v, want 5s", after)
		}
	})
}

// A slow line is no stall.
func TestOutboxBearsASlowLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{block: make(chan struct{})}
		o, stop := startOutbox(p, func() { t.Error("taken for a stall") })
		o.put(t.Context(), kvReply(1))
		for range 30 {
			time.Sleep(4 * time.Second)
			synctest.Wait()
			p.taken.Store(int64(time.Since(p.start)))
		}
		close(p.block)
		synctest.Wait()
		stop()
	})
}

func TestOutboxHoldsBackWhoAsksTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{block: make(chan struct{})}
		o, stop := startOutbox(p, func() {})
		queued := 0
		go func() {
			for range maxQueued + 10 {
				o.put(t.Context(), kvReply(1))
				queued++
			}
		}()
		synctest.Wait()
		if queued != maxQueued+1 { // one is being written
			t.Errorf("%d answers are queued", queued)
		}
		close(p.block)
		synctest.Wait()
		if queued != maxQueued+10 {
			t.Errorf("%d answers were queued in the end", queued)
		}
		stop()
	})
}

func TestOutboxEndsAfterWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{block: make(chan struct{})}
		o, _ := startOutbox(p, func() {})
		o.put(t.Context(), kvReply(1), kvReply(2))
		synctest.Wait() // the first is on its way
		o.putFirst(cancelAction())
		o.end()
		o.put(t.Context(), kvReply(3)) // too late
		close(p.block)
		<-o.done
		if want := []string{"kv 1 0s", "cancel 0s", "kv 2 0s"}; !slices.Equal(p.lines, want) || !p.ended {
			t.Errorf("got %q, ended %v; want %q", p.lines, p.ended, want)
		}
	})
}

// The service takes no other message first than the one that opens the run.
func TestNothingIsCancelledBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paper{}
		o := newOutbox(&outbox{send: p.send})
		o.put(t.Context(), kvReply(1))
		if o.putFirst(cancelAction()) {
			t.Error("the cancellation goes out first")
		}
		if m, _ := o.take(); m != nil {
			t.Errorf("%v goes out although the run was given up", m)
		}
		o.put(t.Context(), kvReply(1))
		o.take()
		if m, _ := o.take(); !o.putFirst(cancelAction()) || m != nil {
			t.Error("a run that has begun is not cancelled")
		}
	})
}
