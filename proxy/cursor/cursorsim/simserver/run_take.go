package simserver

import (
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"cursortray/proxy/cursor/cursorpb"
)

// take checks a message of the client and gives it to who waits for it.
func (r *Run) take(in *inbound) {
	defer r.open()
	now := r.sim.clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkShape(in)
	// A quarter of the time to close is long enough for what was under way.
	if !r.over.IsZero() && now.Sub(r.over) > r.rules.Closing/4 {
		r.violate("after-end", "the client goes on writing after the last envelope")
	}
	message := in.message.GetMessage()
	if _, opens := message.(*cursorpb.AgentClientMessage_RunRequest); !r.first && !opens {
		r.violate("first-message", "the first message is not a run request")
		r.bad = &RunError{Code: "invalid_argument", Message: "First message must be a run request"}
		return
	}
	switch m := message.(type) {
	case *cursorpb.AgentClientMessage_RunRequest:
		if r.first {
			r.violate("first-message", "a second run request")
			return
		}
		r.request, r.raw = m.RunRequest, in.raw
	case *cursorpb.AgentClientMessage_ClientHeartbeat:
		r.heartbeat(now)
	case *cursorpb.AgentClientMessage_ExecClientMessage:
		r.execResult(m.ExecClientMessage, in.raw, now)
	case *cursorpb.AgentClientMessage_ExecClientControlMessage:
		r.execControl(m.ExecClientControlMessage, now)
	case *cursorpb.AgentClientMessage_KvClientMessage:
		r.blobAnswer(m.KvClientMessage)
	case *cursorpb.AgentClientMessage_InteractionResponse:
		r.queryAnswer(m.InteractionResponse)
	case *cursorpb.AgentClientMessage_ConversationAction:
		r.action(m.ConversationAction, now)
	case *cursorpb.AgentClientMessage_PrewarmRequest:
		r.violate("message", "a prewarm request, which no open client sends")
	}
}

// checkShape holds a message against the tables: it decodes, it says something,
// and it has no field that they do not list.
func (r *Run) checkShape(in *inbound) {
	switch {
	case in.err != nil:
		r.violate("message", "a message cannot be decoded")
		return
	case in.message.GetMessage() == nil:
		r.violate("message", "a message of no known kind")
		return
	}
	if in.message.GetInteractionResponse() != nil {
		return // an unknown query is answered in an unknown field
	}
	if where := unknownIn(in.message.ProtoReflect()); where != "" {
		r.violate("message", "an unknown field in "+where)
	}
}

// unknownIn names the first message below m with an unknown field, or "".
func unknownIn(m protoreflect.Message) string {
	if len(m.GetUnknown()) > 0 {
		return string(m.Descriptor().Name())
	}
	found := ""
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			if fd.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
					found = unknownIn(v.Message())
					return found == ""
				})
			}
		case fd.Message() == nil:
		case fd.IsList():
			for i := 0; i < v.List().Len() && found == ""; i++ {
				found = unknownIn(v.List().Get(i).Message())
			}
		default:
			found = unknownIn(v.Message())
		}
		return found == ""
	})
	return found
}

// heartbeat: one is due every five seconds, and never in front of an answer.
func (r *Run) heartbeat(now time.Time) {
	r.checkBeat(now)
	r.lastBeat = now
	r.record.Heartbeats++
	if late := r.overtaken(); late != "" {
		r.violate("heartbeat-overtakes", "a heartbeat went before "+late)
	}
}

// checkBeat looks at the time since the last heartbeat.
func (r *Run) checkBeat(now time.Time) {
	limit := r.rules.Heartbeat + r.rules.Slack
	if gap := now.Sub(r.lastBeat); gap > limit && !r.paused {
		r.violate("heartbeat-late", fmt.Sprintf("%v without a heartbeat, the limit is %v", gap.Round(time.Millisecond), limit))
	}
}

// overtaken names an answer that the client had ready before the heartbeat: it
// was asked for while the server did not read, the client has begun with the
// answers to that batch, and this one is still missing.
func (r *Run) overtaken() string {
	begun := false
	for _, kv := range r.kvs {
		if !kv.stalled {
			continue
		}
		if kv.answered {
			begun = true
		} else if begun {
			return fmt.Sprintf("the answer to blob request %d", kv.id)
		}
	}
	return ""
}

// action is something that happens to a run under way.
func (r *Run) action(a *cursorpb.ConversationAction, now time.Time) {
	if a.GetCancelAction() == nil {
		r.violate("message", "an action other than a cancel in a run under way")
		return
	}
	r.canceled = true
	r.record.CancelAction = now
	r.cancel(errCanceled)
}

// uploadEnded: nothing more will come.
func (r *Run) uploadEnded(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !errors.Is(err, io.EOF) {
		if !r.over.IsZero() || r.ctx.Err() != nil {
			return // we have stopped reading ourselves, or know it already
		}
		r.cancel(errClientLeft)
		return
	}
	r.closed = true
	if r.request == nil {
		if !r.first {
			r.violate("first-message", "the client ended its half of the stream without a message")
			r.bad = &RunError{Code: "invalid_argument", Message: "First message must be a run request"}
		}
		return
	}
	if !r.ended && !r.canceled {
		r.violate("half-close", "the client ended its half of the stream before turn_ended")
		r.cancel(errHalfClosed)
	}
}

// rawField digs a length-delimited field out of encoded messages, one number
// for each level; nil if it is not there.
func rawField(raw []byte, path ...protoreflect.FieldNumber) []byte {
	for _, number := range path {
		raw = lastField(raw, number)
		if raw == nil {
			return nil
		}
	}
	return raw
}

// clone copies a message for somebody else to keep.
func clone[M proto.Message](m M) M { return proto.CloneOf(m) }
