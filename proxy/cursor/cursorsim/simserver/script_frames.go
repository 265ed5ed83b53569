package simserver

import (
	"encoding/binary"
	"fmt"
	"net/http"

	"crypto/tls"
)

// Gzipped plays steps with compressed frames. The client must have said that it
// takes them.
func Gzipped(steps ...Step) Step {
	return func(r *Run) error { return r.framed(&framing{gzip: true}, Steps(steps...)) }
}

// Cut plays steps with each frame cut into pieces of n bytes.
func Cut(n int, steps ...Step) Step {
	return func(r *Run) error { return r.framed(&framing{step: n}, Steps(steps...)) }
}

// Joined plays steps with their frames written in one piece, so far as no step
// waits for an answer.
func Joined(steps ...Step) Step {
	return func(r *Run) error { return r.framed(&framing{joined: true}, Steps(steps...)) }
}

// EmptyFrame is an envelope without a payload.
func EmptyFrame() Step {
	return func(r *Run) error { return r.SendFrame(0, nil) }
}

// Frame is an envelope with any flags and payload.
func Frame(flags byte, payload []byte) Step {
	return func(r *Run) error { return r.SendFrame(flags, payload) }
}

// Bytes are written into the stream as they are: a part of a frame, say.
func Bytes(p []byte) Step {
	return func(r *Run) error { return r.SendBytes(p) }
}

// HugeFrame announces a payload that no client may take, and sends none of it.
func HugeFrame(size uint32) Step {
	head := binary.BigEndian.AppendUint32([]byte{0}, size)
	return func(r *Run) error { return r.SendBytes(head) }
}

// Close ends the stream without a last envelope.
func Close() Step { return Fail(endsWithoutFrame) }

// Reset resets the stream.
func Reset() Step { return Fail(resetsStream) }

// ResetConnection resets the connection, with all other streams on it.
func ResetConnection() Step { return Fail(resetsConnection) }

// Trailers ends the stream with HTTP trailers instead of a last envelope, the
// second way in which the service tells of errors.
func Trailers(status int, message string) Step {
	return func(r *Run) error {
		r.wire.Header().Set(http.TrailerPrefix+"Grpc-Status", fmt.Sprint(status))
		r.wire.Header().Set(http.TrailerPrefix+"Grpc-Message", percentEncode(message))
		return endsWithTrailers
	}
}

// percentEncode is the encoding of grpc-message.
func percentEncode(text string) string {
	var out []byte
	for _, b := range []byte(text) {
		if b >= ' ' && b <= '~' && b != '%' {
			out = append(out, b)
		} else {
			out = fmt.Appendf(out, "%%%02X", b)
		}
	}
	return string(out)
}

// GoAway tells the client to use the connection for no new stream. Streams
// under way go on.
func GoAway() Step {
	// Type 7, on stream 0: the last stream that counts, and no error.
	frame := []byte{0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}
	return func(r *Run) error {
		// Between two frames of the run, and while no other stream writes.
		r.out.Lock()
		defer r.out.Unlock()
		conn, _ := r.call.r.Context().Value(connKey{}).(*tls.Conn)
		if conn == nil {
			return fmt.Errorf("GOAWAY: the connection cannot be reached")
		}
		_, err := conn.Write(frame)
		return err
	}
}

// StopReading leaves what the client writes unread, so that its flow-control
// window fills. See Options.StreamWindow for a small one.
func StopReading() Step {
	return func(r *Run) error {
		r.upload.pause()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.paused = true
		return nil
	}
}

// ReadAgain ends StopReading. From here on no heartbeat may go before an answer
// to what was asked in between.
func ReadAgain() Step {
	return func(r *Run) error {
		now := r.sim.clock()
		r.mu.Lock()
		r.paused, r.lastBeat, r.resumed = false, now, now
		r.mu.Unlock()
		r.upload.resume()
		return nil
	}
}
