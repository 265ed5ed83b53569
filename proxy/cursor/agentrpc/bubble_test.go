package agentrpc

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	pb "cursortray/proxy/cursor/cursorpb"
)

// pipes is a network in memory, on which time does not pass.
type pipes struct {
	once sync.Once
	conn chan net.Conn
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conn:
		return c, nil
	case <-p.done:
		return nil, io.EOF
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conn <- server
	return client, nil
}

// inBubble runs test with a Backend that has its real times and a service that
// plays a script, where the clock moves only when everybody waits.
func inBubble(t *testing.T, play func(*session) error, test func(*testing.T, *bench)) {
	synctest.Test(t, func(t *testing.T) {
		v := &service{play: play}
		path, handler := pb.NewAgentServiceHandler(v, connect.WithCodec(pb.Codec{}))
		mux := http.NewServeMux()
		mux.Handle(path, handler)
		network := &pipes{conn: make(chan net.Conn), done: make(chan struct{})}
		// The smallest window, so that a service that does not read is felt.
		server := &http.Server{Handler: mux, Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}}
		server.Protocols.SetUnencryptedHTTP2(true)
		go func() { _ = server.Serve(network) }()
		transport := plainTransport(network)
		b := &bench{service: v, host: &fakeHost{origin: "http://agent"}, login: &fakeLogin{}}
		b.Backend = New(Config{Transport: transport, Login: b.login, Host: b.host, Catalog: testCatalog})
		test(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		_ = server.Close()
		synctest.Wait()
	})
}

// plainTransport is for a network without encryption.
func plainTransport(network *pipes) *Transport {
	t := NewTransport(&http.Transport{DialContext: network.dial})
	t.base.Protocols.SetUnencryptedHTTP2(true)
	t.base.Protocols.SetHTTP2(false)
	return t
}

const bigBlob = 20 << 10

// askMuch asks for fifty blobs without reading any answer.
func (s *session) askMuch() error {
	key := make([]byte, 32)
	if err := s.setBlob(1, key, make([]byte, bigBlob)); err != nil {
		return err
	}
	for id := range uint32(50) {
		if err := s.getBlob(id+2, key); err != nil {
			return err
		}
	}
	return s.say("while you write ")
}

// Reading goes on while writing is blocked, and what was asked for comes in
// order, each once, with no sign of life in front of it.
func TestR12_BlockedWritesHoldNothingElseUp(t *testing.T) {
	inBubble(t, func(s *session) error {
		if err := s.askMuch(); err != nil {
			return err
		}
		time.Sleep(4 * time.Second) // a heartbeat is not far
		for want := uint32(1); want <= 51; want++ {
			m, err := s.stream.Receive()
			if err != nil {
				return err
			}
			kv := m.GetKvClientMessage()
			if kv.GetId() != want || want > 1 && len(kv.GetGetBlobResult().GetBlobData()) != bigBlob {
				return failure(3)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if m, err := s.stream.Receive(); err != nil || m.GetClientHeartbeat() == nil {
			return failure(3)
		}
		return plainTurn("and read")(s)
	}, func(t *testing.T, b *bench) {
		b.service.deaf = true
		began := time.Now()
		for e, err := range b.Chat(t.Context(), words("Hi")) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.(chat.TextDelta); ok && d.Text == "while you write " && time.Since(began) > time.Second {
				t.Errorf("the text came after %v", time.Since(began))
			}
		}
	})
}

// A service that never reads is left after five seconds, and not asked again.
func TestR12_ServiceThatNeverReads(t *testing.T) {
	inBubble(t, func(s *session) error {
		if err := s.askMuch(); err != nil {
			return err
		}
		time.Sleep(time.Hour)
		return nil
	}, func(t *testing.T, b *bench) {
		b.service.deaf = true
		began := time.Now()
		a := collect(b.Chat(t.Context(), words("Hi")))
		if took := time.Since(began); a.err == nil || a.err.Kind != chat.Timeout || took < 5*time.Second || took > 6*time.Second {
			t.Errorf("got %+v after %v", a, took)
		}
		if n := len(b.service.seen()); n != 1 {
			t.Errorf("%d runs", n)
		}
		time.Sleep(2 * time.Hour)
	})
}

// beating sends signs of life until the client gives up.
func (s *session) beating() error {
	for s.ctx.Err() == nil {
		if err := s.update(&pb.InteractionUpdate{Message: &pb.InteractionUpdate_Heartbeat{Heartbeat: &pb.HeartbeatUpdate{}}}); err != nil {
			return err
		}
		select {
		case <-time.After(5 * time.Second):
		case <-s.ctx.Done():
		}
	}
	return errGivenUp
}

func TestSilenceAndStandstill(t *testing.T) {
	for name, play := range map[string]func(*session) error{
		"no byte at all":  (*session).hang,
		"heartbeats only": (*session).beating,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, play, func(t *testing.T, b *bench) {
				began := time.Now()
				a := collect(b.Chat(t.Context(), words("Hi")))
				if a.err == nil || a.err.Kind != chat.Timeout {
					t.Errorf("got %+v", a)
				}
				took := time.Since(began)
				if n := len(b.service.seen()); n != maxRuns || took < 360*time.Second || took > 400*time.Second {
					t.Errorf("%d runs within %v, want %d of two minutes", n, took, maxRuns)
				}
			})
		})
	}
}

// The service waits for the client's tool as long as it takes, up to a limit.
func TestHeldRunHasAnIdleDeadline(t *testing.T) {
	var beats int64
	var lasted time.Duration
	inBubble(t, func(s *session) error {
		began := time.Now()
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		err := s.beating()
		beats, lasted = s.beats.Load(), time.Since(began)
		return err
	}, func(t *testing.T, b *bench) {
		a := collect(b.Chat(t.Context(), toolRequest("read")))
		if len(a.calls) != 1 {
			t.Fatalf("got %+v, %v", a, a.err)
		}
		time.Sleep(time.Hour)
		if n := len(b.runs.opened()); n != 0 {
			t.Errorf("%d open runs", n)
		}
	})
	if lasted < 600*time.Second || lasted > 601*time.Second {
		t.Errorf("the run was held for %v", lasted)
	}
	if want := int64(600/5 + 600/3); beats < want-4 || beats > want+1 {
		t.Errorf("%d signs of life, want about %d", beats, want)
	}
}

// A question of an unknown kind has no answer that is known to be right, so a
// run that stands still after it ends.
func TestUnknownQuestionDoesNotParkTheRun(t *testing.T) {
	inBubble(t, func(s *session) error {
		q := &pb.InteractionQuery{}
		if err := proto.Unmarshal(query(3, 99), q); err != nil {
			return err
		}
		if err := s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_InteractionQuery{InteractionQuery: q}}); err != nil {
			return err
		}
		return s.beating()
	}, func(t *testing.T, b *bench) {
		began := time.Now()
		a := collect(b.Chat(t.Context(), words("Hi")))
		if took := time.Since(began); a.err == nil || a.err.Code != CodeInsists || took < 45*time.Second || took > 60*time.Second {
			t.Errorf("got %+v after %v", a, took)
		}
	})
}

// A slow client slows the service down and loses nothing.
func TestSlowClientIsNoSilence(t *testing.T) {
	inBubble(t, func(s *session) error {
		for range 50 {
			if err := s.say("x"); err != nil {
				return err
			}
		}
		return s.end(nil)
	}, func(t *testing.T, b *bench) {
		text := ""
		for e, err := range b.Chat(t.Context(), words("Hi")) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.(chat.TextDelta); ok {
				if text == "" {
					time.Sleep(10 * time.Minute)
				}
				text += d.Text
			}
		}
		if text != strings.Repeat("x", 50) {
			t.Errorf("got %q", text)
		}
	})
}

// A late checkpoint and late blobs are waited for behind the client's back.
func TestLateCheckpointIsKept(t *testing.T) {
	inBubble(t, func(s *session) error {
		if s.n > 1 {
			return plainTurn("second")(s)
		}
		if err := plainTurn("first")(s); err != nil {
			return err
		}
		time.Sleep(700 * time.Millisecond)
		if err := s.setBlob(1, []byte("late"), []byte("blob")); err != nil {
			return err
		}
		if m, err := s.next(); err != nil || m.GetKvClientMessage().GetSetBlobResult() == nil {
			return failure(3)
		}
		return s.checkpoint(used(5, 10))
	}, func(t *testing.T, b *bench) {
		began := time.Now()
		req := words("Hi")
		a := collect(b.Chat(t.Context(), req))
		if took := time.Since(began); took > 300*time.Millisecond {
			t.Errorf("the end came after %v", took)
		}
		// At once: the second turn has to wait for the first one's state.
		a2 := collect(b.Chat(t.Context(), with(req, a, chat.Text{Text: "and?"})))
		runs := b.service.seen()
		if a2.text != "second" || len(runs) != 2 || len(runs[1].GetConversationState()) == 0 || runs[0].GetConversationId() != runs[1].GetConversationId() {
			t.Errorf("got %+v, runs %d", a2, len(runs))
		}
		if a2.finish == nil || a2.finish.Context == nil || !a2.finish.Context.Stale || a2.finish.Context.Used != 5 {
			t.Errorf("context %+v", a2.finish)
		}
	})
}

// A service that never closes is left after a while.
func TestServiceThatDoesNotCloseIsLeft(t *testing.T) {
	var lasted time.Duration
	inBubble(t, func(s *session) error {
		if err := plainTurn("x")(s); err != nil {
			return err
		}
		began := time.Now()
		for range s.in { // until the client ends its half
		}
		lasted = time.Since(began)
		return s.hang()
	}, func(t *testing.T, b *bench) {
		if a := collect(b.Chat(t.Context(), words("Hi"))); a.text != "x" {
			t.Errorf("got %+v", a)
		}
		time.Sleep(10 * time.Second)
		if n := len(b.runs.opened()); n != 0 {
			t.Errorf("%d open runs", n)
		}
	})
	if lasted != time.Second {
		t.Errorf("the client ended its half after %v", lasted)
	}
}
