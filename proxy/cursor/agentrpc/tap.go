package agentrpc

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// tap makes the HTTP exchange of one run and sees what is below messages: when
// bytes came last, an answer that is no stream, and the last envelope, whose
// details connect does not give out. It is connect's HTTP client for that run,
// see tapped.
type tap struct {
	transport http.RoundTripper
	started   time.Time
	heard     atomic.Int64 // when bytes came last, since started
	took      atomic.Int64 // when the transport took something of ours last, since started
	complete  atomic.Bool  // our half may end in the proper way
	onEnd     func()       // called once the last envelope is there
	more      func() bool  // tells whether another envelope of ours follows at once
	buffers   *buffers

	// Set before the answer is handed over, or while its reader reads.
	failed   error    // there is no answer
	refused  *refusal // the answer is no stream
	body     *tappedBody
	response atomic.Pointer[http.Response] // set last
	frames   frameScanner
	ended    bool // the last envelope was announced by onEnd
}

const (
	maxFrame     = 64 << 20
	maxEndStream = 1 << 20
	maxBody      = 64 << 10
	readBuffer   = 8 << 10
)

var (
	errFrameTooLarge = errors.New("an envelope above 64 MiB")
	errNotComplete   = errors.New("the run was given up")
)

// Do makes the call. It bypasses http.Client, which would follow redirects.
func (t *tap) Do(req *http.Request) (*http.Response, error) {
	req.Body = &takenBody{ReadCloser: req.Body, tap: t}
	resp, err := t.transport.RoundTrip(req)
	if err != nil {
		t.failed = err
		return nil, err
	}
	t.hear()
	if resp.StatusCode != http.StatusOK {
		// An answer in between may be long and slow; its beginning will do.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
		t.refused = parseStatus(resp.StatusCode, resp.Header, body)
	}
	t.body = &tappedBody{tap: t, body: resp.Body}
	resp.Body = t.body
	t.response.Store(resp)
	if req.Context().Err() != nil {
		t.abort()
	}
	return resp, nil
}

// abort resets the stream, after its context has ended. The context alone would
// not do: while the transport waits to write, for our next message or for room
// at the other end, it does not look at it (net/http of Go 1.26).
func (t *tap) abort() {
	if resp := t.response.Load(); resp != nil {
		_ = resp.Body.Close()
	}
}

// wait returns when there is something to read, or no answer yet. Connect would
// wait with a buffer in hand, which may be as large as the largest of messages.
func (t *tap) wait() {
	if t.response.Load() != nil {
		t.body.wait()
	}
}

func (t *tap) hear() { t.heard.Store(int64(time.Since(t.started))) }

// silence returns how long no byte has come.
func (t *tap) silence() time.Duration { return time.Since(t.started) - time.Duration(t.heard.Load()) }

// outcome says why the stream is over, once its reader got an error; nil if the
// service ended it without complaint, which is no success yet.
func (t *tap) outcome(err error) *fault {
	switch {
	case t.failed != nil:
		return unreachable(t.failed)
	case t.refused != nil:
		return t.refused.classify()
	case t.response.Load() == nil:
		return unreachable(err)
	case t.response.Load().ProtoMajor < 2:
		return (&refusal{status: 464}).classify()
	}
	if payload, whole := t.frames.endStream(); whole {
		if r := parseEndStream(payload); r != nil {
			return r.classify()
		}
		return nil
	}
	if r := parseTrailer(t.response.Load().Trailer); r != nil {
		return r.classify()
	}
	return brokenOff(err)
}

// tappedBody is what connect reads. A buffer saves it two trips to the
// connection per envelope; between bursts there is none, for runs may wait long.
type tappedBody struct {
	tap    *tap
	body   io.ReadCloser
	first  [64]byte // of a burst
	buffer *[readBuffer]byte
	unread []byte // of one of them
	err    error  // behind it
}

// wait returns when there is something to read, or an error.
func (b *tappedBody) wait() {
	if len(b.unread) == 0 {
		b.tap.buffers.put(b.buffer)
		b.buffer = nil
		b.fill(b.first[:])
	}
}

func (b *tappedBody) fill(buffer []byte) {
	for n := 0; n == 0 && b.err == nil; {
		n, b.err = rawBody{b.tap, b.body}.Read(buffer)
		b.unread = buffer[:n]
	}
}

func (b *tappedBody) Read(p []byte) (int, error) {
	if len(b.unread) == 0 && len(p) > 0 {
		if b.buffer == nil {
			b.buffer = b.tap.buffers.get()
		}
		b.fill(b.buffer[:])
		if len(b.unread) == 0 {
			return 0, b.err
		}
	}
	n := copy(p, b.unread)
	b.unread = b.unread[n:]
	return n, nil
}

func (b *tappedBody) Close() error { return b.body.Close() }

// buffers are used again by other runs.
type buffers struct{ pool sync.Pool }

func (p *buffers) get() *[readBuffer]byte {
	if b, ok := p.pool.Get().(*[readBuffer]byte); ok {
		return b
	}
	return new([readBuffer]byte)
}

func (p *buffers) put(b *[readBuffer]byte) {
	if b != nil {
		p.pool.Put(b)
	}
}

// rawBody sees bytes as they arrive.
type rawBody struct {
	tap  *tap
	body io.Reader
}

func (b rawBody) Read(p []byte) (int, error) {
	if b.tap.frames.done {
		return 0, io.EOF // whatever the server does now
	}
	n, err := b.body.Read(p)
	if n == 0 {
		return n, err
	}
	b.tap.hear()
	if scanErr := b.tap.frames.feed(p[:n]); scanErr != nil {
		return n, scanErr
	}
	if b.tap.frames.done && !b.tap.ended {
		b.tap.ended = true
		b.tap.onEnd()
	}
	return n, err
}

// taken returns how long the transport has taken nothing.
func (t *tap) taken() time.Duration { return time.Since(t.started) - time.Duration(t.took.Load()) }

// takenBody sees what the transport takes of what we send, and gives it whole
// envelopes, and those that follow at once with them: connect writes the head of
// each by itself, and the transport would send every piece in a packet of its own
// (connect 1.21, net/http of Go 1.26).
type takenBody struct {
	io.ReadCloser
	tap    *tap
	frames frameScanner
}

func (b *takenBody) Read(p []byte) (n int, err error) {
	for {
		var more int
		more, err = b.ReadCloser.Read(p[n:])
		_ = b.frames.feed(p[n : n+more]) // we write no large ones
		n += more
		b.tap.took.Store(int64(time.Since(b.tap.started)))
		if err != nil || n == 0 || n == len(p) || !b.frames.within() && !b.tap.more() {
			break
		}
	}
	if errors.Is(err, io.EOF) && !b.tap.complete.Load() {
		// Connect closes after any error. For the service an end of our half
		// is the end of the turn, while a reset is what is meant.
		return n, errNotComplete
	}
	return n, err
}

// frameScanner follows the envelopes of a stream, whatever the cuts, and keeps
// the payload of the last one.
type frameScanner struct {
	head [5]byte
	have int    // bytes of head
	left uint32 // bytes of the payload to come
	last []byte // payload of the last envelope
	done bool   // it is whole
}

const (
	flagCompressed = 1
	flagEndStream  = 2
)

func (s *frameScanner) feed(p []byte) error {
	for len(p) > 0 && !s.done {
		if s.have < len(s.head) {
			n := copy(s.head[s.have:], p)
			s.have, p = s.have+n, p[n:]
			if s.have < len(s.head) {
				return nil
			}
			s.left = binary.BigEndian.Uint32(s.head[1:])
			if s.left > maxFrame {
				return errFrameTooLarge
			}
		}
		n := min(int(s.left), len(p))
		if s.head[0]&flagEndStream != 0 && len(s.last)+n <= maxEndStream {
			s.last = append(s.last, p[:n]...)
		}
		s.left, p = s.left-uint32(n), p[n:]
		if s.left == 0 {
			s.have = 0
			s.done = s.head[0]&flagEndStream != 0
		}
	}
	return nil
}

// within tells whether an envelope has begun and is not whole yet.
func (s *frameScanner) within() bool { return s.have > 0 }

// endStream returns the payload of the last envelope, if it came.
func (s *frameScanner) endStream() (payload []byte, whole bool) {
	if !s.done || s.head[0]&flagCompressed == 0 {
		return s.last, s.done
	}
	z, err := gzip.NewReader(bytes.NewReader(s.last))
	if err != nil {
		return nil, true
	}
	payload, _ = io.ReadAll(io.LimitReader(z, maxEndStream))
	return payload, true
}
