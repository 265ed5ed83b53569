package agentrpc

import (
	"encoding/json"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	pb "cursortray/proxy/cursor/cursorpb"
)

func TestSuite(t *testing.T) {
	chattest.Suite(t, chattest.Harness{
		Model: testModel,
		New: func(t *testing.T, script chattest.Script) chattest.Instance {
			b := newBench(t, func(s *session) error { return s.suite(script) })
			return chattest.Instance{Backend: b.Backend, Live: func() int { return int(b.service.live.Load()) }}
		},
	})
}

// suite plays a script. A run whose history has results of tools plays the
// second part.
func (s *session) suite(script chattest.Script) error {
	moves := script.Answer
	if len(s.request.GetPreFetchedBlobs()) > 0 || len(s.request.GetConversationState()) > 0 {
		moves = script.After
	}
	for i := 0; i < len(moves); i++ {
		used, err := s.move(moves[i], uint32(i+1))
		if err != nil {
			return err
		}
		if used {
			if _, err := s.result(); err != nil {
				return err
			}
			moves, i = script.After, -1
		}
	}
	if len(moves) > 0 {
		if _, ok := moves[len(moves)-1].(chattest.Report); ok {
			return nil
		}
	}
	return s.end(nil)
}

func (s *session) move(move chattest.Move, id uint32) (used bool, err error) {
	switch m := move.(type) {
	case chattest.Say:
		return false, s.say(m.Text)
	case chattest.Think:
		return false, s.think(m.Text)
	case chattest.Report:
		return false, s.end(counters(m.Usage))
	case chattest.Use:
		var args map[string]any
		if m.Arguments != "" {
			if err := json.Unmarshal([]byte(m.Arguments), &args); err != nil {
				return false, err
			}
		}
		return true, s.call(id, m.Name, args)
	case chattest.Die:
		return false, connect.NewError(connect.CodeInternal, errGivenUp)
	default:
		return false, s.hang()
	}
}

func counters(u chat.Usage) *pb.TurnEndedUpdate {
	return &pb.TurnEndedUpdate{
		InputTokens: proto.Int64(int64(u.Input + u.CacheRead + u.CacheWrite)), OutputTokens: proto.Int64(int64(u.Output)),
		CacheReadTokens: proto.Int64(int64(u.CacheRead)), CacheWriteTokens: proto.Int64(int64(u.CacheWrite)),
	}
}
