package agentrpc

import (
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	pb "cursortray/proxy/cursor/cursorpb"
)

const benchDeltas = 20000

func manyDeltas(s *session) error {
	for range benchDeltas {
		if err := s.say("eight by"); err != nil {
			return err
		}
	}
	return s.end(nil)
}

// BenchmarkDeltas is the whole way of a delta, from the connection to the
// client's loop.
func BenchmarkDeltas(b *testing.B) {
	bench := newBench(b, manyDeltas)
	for b.Loop() {
		n := 0
		for e, err := range bench.Chat(b.Context(), words("Hi")) {
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := e.(chat.TextDelta); ok {
				n++
			}
		}
		if n != benchDeltas {
			b.Fatalf("%d deltas", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchDeltas), "ns/delta")
}

// BenchmarkBareDeltas does nothing but decode the same messages.
func BenchmarkBareDeltas(b *testing.B) {
	bench := newBench(b, manyDeltas)
	for b.Loop() {
		exchange := &tap{transport: bench.cfg.Transport, started: time.Now(), onEnd: func() {}, more: func() bool { return false }, buffers: &bench.buffers}
		exchange.complete.Store(true)
		stream := bench.calls.open(b.Context(), exchange, bench.server.URL)
		if err := stream.Send(&pb.AgentClientMessage{Message: &pb.AgentClientMessage_RunRequest{
			RunRequest: &pb.AgentRunRequest{ConversationState: []byte{}, ConversationId: proto.String("c")}}}); err != nil {
			b.Fatal(err)
		}
		for {
			m, err := stream.Receive()
			if m.GetInteractionUpdate().GetTurnEnded() != nil {
				_ = stream.CloseRequest()
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		_ = stream.CloseResponse()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchDeltas), "ns/delta")
}
