package proxy

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// slotPatience is how long a request waits for a slot. A client sees the end of
// its answer a little before the slot is free, and may send the next request at
// once.
const slotPatience = 250 * time.Millisecond

// slots bounds how many requests for a model run at once, and reports how many
// do. As many may wait for a slot, in order and not for long.
type slots struct {
	size    int
	changed func(active int)

	mu      sync.Mutex
	active  int
	waiting []chan struct{} // closed when the slot is theirs
}

// enter takes a slot. It returns false if none becomes free soon.
func (s *slots) enter(ctx context.Context) bool {
	turn, entered := s.line()
	if turn == nil {
		return entered
	}
	patience := time.NewTimer(slotPatience)
	defer patience.Stop()
	select {
	case <-turn:
		return true
	case <-patience.C:
	case <-ctx.Done():
	}
	return !s.withdraw(turn)
}

// line takes a slot, or returns a place in the line, or neither when the line
// is too long as well.
func (s *slots) line() (turn chan struct{}, entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active < s.size {
		s.active++
		s.report()
		return nil, true
	}
	if len(s.waiting) >= s.size {
		return nil, false
	}
	turn = make(chan struct{})
	s.waiting = append(s.waiting, turn)
	return turn, false
}

// withdraw takes turn out of the line. It returns false if the slot has just
// become its own.
func (s *slots) withdraw(turn chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, turn)
	if i < 0 {
		return false
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}

// leave gives the slot to the first in line.
func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 {
		close(s.waiting[0])
		s.waiting = slices.Delete(s.waiting, 0, 1)
		return // as many are active as before
	}
	s.active--
	s.report()
}

// report is called with the mutex held, so that reports come in order.
func (s *slots) report() {
	if s.changed != nil {
		s.changed(s.active)
	}
}

// isJSON tells whether a body is declared as JSON. A web page cannot declare
// that across origins without asking first.
func isJSON(header http.Header) bool {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if encoding := header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return false // no client compresses, and the size limit is that of the JSON
	}
	return kind == "application/json" && (err == nil || errors.Is(err, mime.ErrInvalidMediaParameter))
}

// limitBody bounds the size of the request's body and the time it may take.
// Its errors are of type *chat.Error where they are not the client's leaving.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	b := &body{ReadCloser: r.Body, left: s.maxBody, header: w.Header(), control: http.NewResponseController(w)}
	_ = b.control.SetReadDeadline(time.Now().Add(s.bodyTimeout))
	r.Body = b
}

type body struct {
	io.ReadCloser
	left    int64 // bytes still allowed
	header  http.Header
	control *http.ResponseController
	err     error
}

// Read is never called again after an error by readers that keep the contract;
// it repeats the error all the same.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one byte more shows that the body is too large
	}
	n, err := b.ReadCloser.Read(p)
	switch {
	case int64(n) > b.left:
		b.fail(errTooLarge())
		return 0, b.err
	case err == nil:
	case errors.Is(err, io.EOF):
		_ = b.control.SetReadDeadline(time.Time{}) // the answer may take longer
		b.err = err
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.fail(&chat.Error{Kind: chat.Invalid, Code: "request_timeout", Message: "the request body took too long to arrive"})
	default:
		b.err = err
	}
	b.left -= int64(n)
	return n, b.err
}

// fail ends the connection with the answer: its rest cannot be used.
func (b *body) fail(err *chat.Error) {
	b.err = err
	b.header.Set("Connection", "close")
}

func errTooLarge() *chat.Error {
	return chat.Errorf(chat.TooLarge, "the request body is larger than this proxy takes (64 MiB)")
}
