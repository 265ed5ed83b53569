package simserver

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// inbound is a message of the client with the bytes it came in: what must come
// back unchanged is compared as bytes.
type inbound struct {
	message cursorpb.AgentClientMessage
	raw     []byte
	err     error // it could not be decoded
}

// outbound is a message to the client.
type outbound struct{ message *cursorpb.AgentServerMessage }

// runCodec is the codec of the messages, for these two.
type runCodec struct{ cursorpb.Codec }

// Marshal encodes an outbound.
func (c runCodec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend encodes an outbound behind dst.
func (c runCodec) MarshalAppend(dst []byte, message any) ([]byte, error) {
	if m, ok := message.(*outbound); ok {
		return c.Codec.MarshalAppend(dst, m.message)
	}
	return c.Codec.MarshalAppend(dst, message)
}

// Unmarshal decodes an inbound. It never fails: what is wrong with a message is
// for the checks to say.
func (c runCodec) Unmarshal(data []byte, message any) error {
	m, ok := message.(*inbound)
	if !ok {
		return c.Codec.Unmarshal(data, message)
	}
	m.raw = bytes.Clone(data)
	m.err = proto.Unmarshal(m.raw, &m.message)
	return nil
}

// Flags of an envelope.
const (
	flagGzip      = 1
	flagEndStream = 2
)

// appendFrame encloses a payload in an envelope.
func appendFrame(dst []byte, flags byte, payload []byte) []byte {
	dst = append(dst, flags)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)))
	return append(dst, payload...)
}

// wire is the response below connect. Its users take turns.
type wire struct {
	http.ResponseWriter
	control *http.ResponseController
	muted   bool   // the response is over, whatever connect still writes
	final   func() // breaks the call off when all else is done; may be nil
}

func newWire(w http.ResponseWriter) *wire {
	return &wire{ResponseWriter: w, control: http.NewResponseController(w)}
}

func (w *wire) Write(p []byte) (int, error) {
	if w.muted {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Flush is called by connect after each message.
func (w *wire) Flush() {
	if !w.muted {
		_ = w.control.Flush() // the next write tells what is wrong
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *wire) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// end does what was left for the very end.
func (w *wire) end() {
	if w.final != nil {
		w.final()
	}
}

// upload is the request's body. It can be kept from being read, which fills
// the client's flow-control window, and it looks at the head of every envelope.
type upload struct {
	body io.ReadCloser
	envelopes

	mu   sync.Mutex
	gate chan struct{} // not nil while reading is paused; closed to go on
}

func newUpload(body io.ReadCloser, violate func(rule, detail string)) *upload {
	return &upload{body: body, envelopes: envelopes{begun: func(flags byte) {
		if flags != 0 { // what clients send always
			violate("flags", "an envelope with flags other than 0")
		}
	}}}
}

func (u *upload) pause() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gate == nil {
		u.gate = make(chan struct{})
	}
}

func (u *upload) resume() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gate != nil {
		close(u.gate)
		u.gate = nil
	}
}

func (u *upload) pass() {
	u.mu.Lock()
	gate := u.gate
	u.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// stop ends a read under way and every later one.
func (u *upload) stop(w *wire) {
	_ = w.control.SetReadDeadline(time.Now())
	u.resume()
}

func (u *upload) Read(p []byte) (int, error) {
	u.pass()
	n, err := u.body.Read(p)
	u.pass()
	u.scan(p[:n])
	return n, err
}

func (u *upload) Close() error { return u.body.Close() }

// envelopes follows the envelopes of a stream, whatever the cuts.
type envelopes struct {
	begun func(flags byte) // an envelope's head is whole; may be nil
	whole func(flags byte) // an envelope is whole; may be nil

	head [5]byte
	have int
	left uint32
}

func (e *envelopes) scan(p []byte) {
	for len(p) > 0 {
		if e.have < len(e.head) {
			n := copy(e.head[e.have:], p)
			e.have, p = e.have+n, p[n:]
			if e.have < len(e.head) {
				return
			}
			e.left = binary.BigEndian.Uint32(e.head[1:])
			if e.begun != nil {
				e.begun(e.head[0])
			}
		}
		n := min(int(e.left), len(p))
		e.left, p = e.left-uint32(n), p[n:]
		if e.left == 0 {
			e.have = 0
			if e.whole != nil {
				e.whole(e.head[0])
			}
		}
	}
}
