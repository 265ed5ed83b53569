// Package recording writes down one request for a model and its answer, for a
// bug report: headers, structure, events and their times, without what is said.
// Keys, tokens and all text are replaced by marks with their length and a hash
// that compares texts within one recording and nowhere else. It records only
// when it was told to, and one request each time.
//
// It has no goroutines: it works in those of the requests.
package recording

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cursortray/proxy/chat"
)

// maxBody bounds what is kept of a request, and of an answer.
const maxBody = 8 << 20

// Config is what a Recorder needs.
type Config struct {
	Folder  string // private; made if need be
	Version string // of the program
	// Mask replaces secrets that are known to the process in what is written,
	// as the last line of defence; nil: none.
	Mask func([]byte) []byte
}

// Recorder records requests. Its methods may be called at the same time.
type Recorder struct {
	cfg   Config
	armed atomic.Bool // a look at it is all that requests cost that are not recorded

	mu   sync.Mutex
	done func(path string, err error)
}

// New returns a Recorder that waits for Arm.
func New(cfg Config) *Recorder {
	if cfg.Mask == nil {
		cfg.Mask = func(text []byte) []byte { return text }
	}
	return &Recorder{cfg: cfg}
}

// Arm makes the next request for a model the recorded one. done is called from
// the goroutine of that request when it has been written down.
func (r *Recorder) Arm(done func(path string, err error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = done
	r.armed.Store(true)
}

// Disarm takes Arm back, unless a request has come.
func (r *Recorder) Disarm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = nil
	r.armed.Store(false)
}

// take claims the recording for one request.
func (r *Recorder) take() func(path string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := r.done
	r.done = nil
	r.armed.Store(false)
	return done
}

// Wrap returns a handler that records for next.
func (r *Recorder) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !r.armed.Load() || !forModel(req) {
			next.ServeHTTP(w, req)
			return
		}
		done := r.take()
		if done == nil { // another request was faster
			next.ServeHTTP(w, req)
			return
		}
		t := newTape(w, req)
		defer func() {
			trouble := recover()
			done(r.save(t, trouble != nil))
			if trouble != nil {
				panic(trouble) // the server's to deal with
			}
		}()
		next.ServeHTTP(t, t.request)
	})
}

// forModel says whether a request is one for a model, under any alias of its
// route.
func forModel(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	for _, route := range []string{"/chat/completions", "/responses", "/messages"} {
		if strings.HasSuffix(r.URL.Path, route) {
			return true
		}
	}
	return false
}

// Events returns what takes the events of the back-end for the request of ctx;
// nil if that is not recorded.
func (r *Recorder) Events(ctx context.Context) func(chat.Event, error) {
	if t, ok := ctx.Value(tapeKey{}).(*tape); ok {
		return t.event
	}
	return nil
}

type tapeKey struct{}

// tape is a request that is being recorded. It is the request's response
// writer, so it passes everything on.
type tape struct {
	http.ResponseWriter
	request *http.Request
	began   time.Time
	salt    []byte

	mu     sync.Mutex // the stream is written by a goroutine of its own
	body   kept
	answer kept
	status int
	header http.Header
	chunks []chunk // where in the answer each write began
	events []event
}

// chunk is one write of the answer.
type chunk struct {
	at   int
	when time.Duration
}

// kept is the beginning of a body.
type kept struct {
	text []byte
	size int64 // of all of it
}

func (k *kept) add(part []byte) {
	k.size += int64(len(part))
	k.text = append(k.text, part[:min(len(part), maxBody-len(k.text))]...)
}

func newTape(w http.ResponseWriter, r *http.Request) *tape {
	t := &tape{ResponseWriter: w, began: time.Now(), salt: []byte(rand.Text())}
	t.request = r.WithContext(context.WithValue(r.Context(), tapeKey{}, t))
	if r.Body != nil {
		t.request.Body = &tee{r.Body, t}
	}
	return t
}

// Unwrap lets http.ResponseController reach what the server offers.
func (t *tape) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader notes the status and the headers that go with it.
func (t *tape) WriteHeader(status int) {
	t.mu.Lock()
	if t.status == 0 {
		t.status, t.header = status, t.Header().Clone()
	}
	t.mu.Unlock()
	t.ResponseWriter.WriteHeader(status)
}

// Write notes a part of the answer.
func (t *tape) Write(part []byte) (int, error) {
	t.mu.Lock()
	if t.status == 0 {
		t.status, t.header = http.StatusOK, t.Header().Clone()
	}
	t.chunks = append(t.chunks, chunk{len(t.answer.text), time.Since(t.began)})
	t.answer.add(part)
	t.mu.Unlock()
	return t.ResponseWriter.Write(part)
}

// tee notes what is read of the request's body.
type tee struct {
	io.ReadCloser
	tape *tape
}

func (r *tee) Read(part []byte) (int, error) {
	n, err := r.ReadCloser.Read(part)
	r.tape.mu.Lock()
	defer r.tape.mu.Unlock()
	r.tape.body.add(part[:n])
	return n, err
}
