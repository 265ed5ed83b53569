package simserver

import (
	"bytes"
	"compress/gzip"
	"context"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// Send writes a message. It waits while the client does not read.
func (r *Run) Send(m *cursorpb.AgentServerMessage) error {
	r.out.Lock()
	defer r.out.Unlock()
	if r.wire.muted {
		return r.gone()
	}
	if r.frames == nil {
		if err := r.stream.Send(&outbound{m}); err != nil {
			return r.gone()
		}
		return nil
	}
	payload, err := cursorpb.Codec{}.Marshal(m)
	if err != nil {
		return err
	}
	return r.writeFrame(0, payload)
}

// gone is the reason why nothing can be written any more.
func (r *Run) gone() error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	return errClientLeft
}

// Update sends news of the turn.
func (r *Run) Update(u *cursorpb.InteractionUpdate) error {
	return r.Send(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_InteractionUpdate{InteractionUpdate: u}})
}

// SendFrame writes an envelope with any flags and payload.
func (r *Run) SendFrame(flags byte, payload []byte) error {
	r.out.Lock()
	defer r.out.Unlock()
	return r.writeFrame(flags, payload)
}

// SendBytes writes bytes into the stream as they are.
func (r *Run) SendBytes(p []byte) error {
	r.out.Lock()
	defer r.out.Unlock()
	return r.writeBytes(p)
}

// framing is how frames are written when not one by one.
type framing struct {
	gzip   bool         // compressed
	step   int          // bytes per write; 0 for no cuts
	joined bool         // gathered in held
	held   bytes.Buffer // frames that wait for the write that takes all
}

// framed plays a step with its frames written in another way.
func (r *Run) framed(how *framing, step Step) error {
	r.out.Lock()
	outer := r.frames
	r.frames = how
	r.out.Unlock()
	err := step(r)
	r.out.Lock()
	defer r.out.Unlock()
	r.frames = outer
	if how.held.Len() > 0 {
		if sent := r.writeBytes(how.held.Bytes()); err == nil {
			err = sent
		}
	}
	return err
}

// letGo writes what is held back, before the run waits for an answer to it.
func (r *Run) letGo() error {
	r.out.Lock()
	defer r.out.Unlock()
	if r.frames == nil || r.frames.held.Len() == 0 {
		return nil
	}
	defer r.frames.held.Reset()
	return r.writeBytes(r.frames.held.Bytes())
}

// writeFrame is called with out locked.
func (r *Run) writeFrame(flags byte, payload []byte) error {
	how := r.frames
	if how == nil {
		how = &framing{}
	}
	if how.gzip && flags&flagGzip == 0 {
		flags, payload = flags|flagGzip, compress(payload)
	}
	frame := appendFrame(nil, flags, payload)
	if how.joined {
		how.held.Write(frame)
		return nil
	}
	if how.step > 0 {
		for len(frame) > how.step {
			if err := r.writeBytes(frame[:how.step]); err != nil {
				return err
			}
			frame = frame[how.step:]
		}
	}
	return r.writeBytes(frame)
}

func (r *Run) writeBytes(p []byte) error {
	if _, err := r.wire.Write(p); err != nil {
		return r.gone()
	}
	if r.wire.muted {
		return r.gone()
	}
	if err := r.wire.control.Flush(); err != nil {
		return r.gone()
	}
	return nil
}

func compress(payload []byte) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(payload) // into memory
	_ = z.Close()
	return packed.Bytes()
}

// encodeUpdate is a whole frame with news of the turn.
func encodeUpdate(u *cursorpb.InteractionUpdate) ([]byte, error) {
	payload, err := proto.Marshal(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_InteractionUpdate{InteractionUpdate: u}})
	return appendFrame(nil, 0, payload), err
}
