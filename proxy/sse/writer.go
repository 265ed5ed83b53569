// Package sse writes event streams (text/event-stream) that never hold a token
// back and never fall silent, and reads them for tests. It knows nothing of
// what the events say. A Writer owns one goroutine, from NewWriter until its
// end; a Reader owns none.
package sse

import (
	"errors"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// ErrClosed is what Write returns after the end of its stream.
var ErrClosed = errors.New("event stream is closed")

const (
	// maxPending is how much may wait for a client that reads more slowly than
	// the model writes. Beyond it Write blocks, and with it the back-end.
	maxPending = 64 << 10
	// maxKept is the largest buffer that is used again after a burst.
	maxKept = 4 * maxPending
)

// Writer sends events to one client. While one write to the network is under
// way the next events gather, so that there is one flush per burst and none of
// them waits for a timer. Its methods may be called by several goroutines.
//
// Not a byte is sent, and no header set, before the first event or the first
// keep-alive: until then the caller can still answer with an error status.
type Writer struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	keepAlive time.Duration

	wake chan struct{} // holds a token while pending or closed changed unseen
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	room    sync.Cond // pending was taken, or the stream broke
	pending []byte    // complete events, not yet taken by the goroutine
	started bool      // bytes are, or are about to be, on their way
	closed  bool
	err     error // first failed write
}

// NewWriter starts a stream on w, which nobody else may use until Close, or an
// Abort that returned false. After keepAlive without an event it sends a
// comment; 0 sends none.
func NewWriter(w http.ResponseWriter, keepAlive time.Duration) *Writer {
	s := &Writer{
		w:         w,
		rc:        http.NewResponseController(w),
		keepAlive: keepAlive,
		wake:      make(chan struct{}, 1),
		done:      make(chan struct{}),
	}
	s.room.L = &s.mu
	go s.run()
	return s
}

// Write queues one or more complete events, each with the empty line that ends
// it. The bytes are copied. It blocks while the client is far behind, and
// fails once a write to the client has failed or the stream was closed.
func (s *Writer) Write(events []byte) error {
	first, err := s.queue(events)
	if first && err == nil {
		// The first word is worth more than a full burst: without this it waits
		// until the caller has nothing more to say, or a second thread is up.
		runtime.Gosched()
	}
	return err
}

// queue returns first if the goroutine has not taken anything yet.
func (s *Writer) queue(events []byte) (first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) >= maxPending && s.err == nil && !s.closed {
		s.room.Wait()
	}
	if s.err != nil {
		return false, s.err
	}
	if s.closed {
		return false, ErrClosed
	}
	s.pending = append(s.pending, events...)
	s.signal()
	return !s.started, nil
}

// Abort gives up a stream that has not begun. False means that not a byte was
// sent, nor will be: the stream is over and the caller may answer with a
// status. True means that the client has seen the beginning of a stream; it
// goes on, and the caller ends it with an error event and Close.
func (s *Writer) Abort() (started bool) {
	s.mu.Lock()
	started = s.started || len(s.pending) > 0
	if !started {
		s.closed = true
		s.signal()
	}
	s.mu.Unlock()
	if !started {
		<-s.done
	}
	return started
}

// Close sends what is pending, ends the stream's goroutine and waits for it.
// It returns the error of the first write that failed, and may be called again.
func (s *Writer) Close() error {
	s.mu.Lock()
	s.closed = true
	s.room.Broadcast()
	s.signal()
	s.mu.Unlock()
	<-s.done
	return s.err
}

// signal tells the goroutine to look at the state again. The mutex is held.
func (s *Writer) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Writer) run() {
	defer close(s.done)
	var tick <-chan time.Time
	var timer *time.Timer
	if s.keepAlive > 0 {
		timer = time.NewTimer(s.keepAlive)
		defer timer.Stop()
		tick = timer.C
	}
	var burst []byte
	for {
		silent := false
		select {
		case <-s.wake:
		case <-tick:
			silent = true
		}
		var last bool
		if burst, last = s.take(burst[:0], silent); len(burst) > 0 {
			if err := s.send(burst); err != nil {
				s.fail(err)
				return
			}
		}
		if last {
			return
		}
		if timer != nil {
			timer.Reset(s.keepAlive)
		}
	}
}

const keepAliveComment = ": keep-alive\n\n"

// take swaps the pending events for the empty buffer and returns them, or a
// comment if the stream was silent, and whether the stream ends with them.
func (s *Writer) take(empty []byte, silent bool) (burst []byte, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(empty) > maxKept {
		empty = nil
	}
	burst, s.pending = s.pending, empty
	s.room.Broadcast()
	if len(burst) == 0 && silent && !s.closed {
		burst = append(burst, keepAliveComment...)
	}
	if len(burst) > 0 && !s.started {
		s.started = true
		setHeaders(s.w.Header())
	}
	return burst, s.closed
}

// setHeaders is called when the first bytes are about to go out. Proxies in
// between must neither buffer nor compress nor transform the stream.
func setHeaders(h http.Header) {
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

func (s *Writer) send(burst []byte) error {
	if _, err := s.w.Write(burst); err != nil {
		return err
	}
	return s.rc.Flush()
}

// fail makes every later Write return err.
func (s *Writer) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	s.pending = nil
	s.room.Broadcast()
}
