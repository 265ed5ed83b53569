package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a response writer that keeps what reached it, flush by flush. Each
// write waits for the gate, if there is one, and fails with err, if set.
type client struct {
	gate chan struct{}

	mu      sync.Mutex
	header  http.Header
	buf     bytes.Buffer
	flushed []string
	err     error
}

func newClient() *client { return &client{header: http.Header{}} }

func (c *client) Header() http.Header { return c.header }
func (c *client) WriteHeader(int)     {}

func (c *client) Write(p []byte) (int, error) {
	if c.gate != nil {
		<-c.gate
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	return c.buf.Write(p)
}

func (c *client) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushed = append(c.flushed, c.buf.String())
	c.buf.Reset()
}

func (c *client) got() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.flushed...)
}

func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func event(n int) []byte { return fmt.Appendf(nil, "data: %d\n\n", n) }

func TestST9_EachEventIsFlushedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		w := NewWriter(c, 10*time.Second)
		for i := range 3 {
			if err := w.Write(event(i)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // no clock moves in here
			if got := c.got(); len(got) != i+1 || got[i] != string(event(i)) {
				t.Fatalf("after event %d the client has %q", i, got)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOneFlushPerBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		c.gate = make(chan struct{})
		w := NewWriter(c, 0)
		var rest strings.Builder
		for i := range 100 {
			if err := w.Write(event(i)); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				synctest.Wait() // the first write is now under way
			} else {
				rest.Write(event(i))
			}
		}
		close(c.gate)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := c.got(); len(got) != 2 || got[1] != rest.String() {
			t.Fatalf("%d flushes, want the first event and then the rest: %q", len(got), got)
		}
	})
}

func TestSlowClientHoldsTheProducerBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		c.gate = make(chan struct{})
		w := NewWriter(c, 0)
		chunk := bytes.Repeat([]byte("x"), maxPending/4)
		written := 0
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			for range 100 {
				if w.Write(chunk) != nil {
					return
				}
				written++
			}
		}()
		synctest.Wait()
		if written > 8 { // as much again may be in the write under way
			t.Errorf("%d chunks were taken while the client read none", written)
		}
		close(c.gate)
		<-finished
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := len(strings.Join(c.got(), "")); got != 100*len(chunk) {
			t.Fatalf("the client got %d bytes, want %d", got, 100*len(chunk))
		}
	})
}

func TestST11_SilenceIsFilledWithComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		w := NewWriter(c, 10*time.Second)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if got := c.got(); len(got) != 0 {
			t.Fatalf("before the first keep-alive the client has %q", got)
		}
		time.Sleep(16 * time.Second) // 10 and 20 s have passed
		w.Write(event(1))
		time.Sleep(9 * time.Second) // an event starts the wait again
		synctest.Wait()
		want := []string{": keep-alive\n\n", ": keep-alive\n\n", "data: 1\n\n"}
		if got := c.got(); strings.Join(got, "") != strings.Join(want, "") {
			t.Fatalf("got %q, want %q", got, want)
		}
		w.Close()
		time.Sleep(time.Minute)
		if got := c.got(); len(got) != len(want) {
			t.Fatalf("the timer went on after the end: %q", got)
		}
	})
}

func TestHeadersGoOutWithTheFirstByte(t *testing.T) {
	rec := httptest.NewRecorder()
	rec.Header().Set("Cache-Control", "no-store")
	w := NewWriter(rec, 0)
	w.Write(event(1))
	w.Close()
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform",
		"X-Accel-Buffering": "no", "Content-Length": "", "Content-Encoding": "",
	} {
		if got := rec.Result().Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !rec.Flushed {
		t.Error("nothing was flushed")
	}
}

func TestAbort(t *testing.T) {
	tests := []struct {
		name    string
		before  func(*Writer)
		started bool
	}{
		{"nothing sent", func(*Writer) {}, false},
		{"an event", func(w *Writer) { w.Write(event(1)) }, true},
		{"a keep-alive", func(*Writer) { time.Sleep(11 * time.Second); synctest.Wait() }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClient()
				w := NewWriter(c, 10*time.Second)
				tt.before(w)
				if got := w.Abort(); got != tt.started {
					t.Fatalf("Abort = %v, want %v", got, tt.started)
				}
				err := w.Write(event(2))
				if tt.started != (err == nil) || !tt.started && !errors.Is(err, ErrClosed) {
					t.Errorf("Write after Abort: %v", err)
				}
				w.Close()
				w.Close()
				if (len(c.header) > 0) != tt.started {
					t.Errorf("headers: %v", c.header)
				}
				if got := strings.Join(c.got(), ""); strings.Contains(got, "data: 2") != tt.started {
					t.Errorf("the client got %q", got)
				}
			})
		})
	}
}

func TestWriteErrorsSurface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the client is gone")
		c := newClient()
		w := NewWriter(c, 10*time.Second)
		w.Write(event(1))
		synctest.Wait()
		c.fail(gone)
		w.Write(event(2))
		synctest.Wait()
		if err := w.Write(event(3)); err != gone {
			t.Errorf("Write = %v, want %v", err, gone)
		}
		if err := w.Close(); err != gone {
			t.Errorf("Close = %v, want %v", err, gone)
		}
	})
}

func TestWriteErrorFreesABlockedProducer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		c.gate = make(chan struct{})
		c.fail(io.ErrClosedPipe)
		w := NewWriter(c, 0)
		result := make(chan error)
		go func() {
			for {
				if err := w.Write(bytes.Repeat([]byte("x"), maxPending)); err != nil {
					result <- err
					return
				}
			}
		}()
		synctest.Wait()
		close(c.gate)
		if err := <-result; err != io.ErrClosedPipe {
			t.Errorf("Write = %v", err)
		}
		w.Close()
	})
}

func TestParallelWritersDoNotMixEvents(t *testing.T) {
	c := newClient()
	w := NewWriter(c, time.Millisecond)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 200 {
				w.Write(event(i))
			}
		})
	}
	group.Wait()
	w.Close()
	all, err := ReadAll(strings.NewReader(strings.Join(c.got(), "")))
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, m := range all {
		if m.Data != "" {
			events++
		} else if m.Comment != "keep-alive" {
			t.Fatalf("found %+v", m)
		}
	}
	if events != 8*200 {
		t.Fatalf("%d events, want 1600", events)
	}
}

func TestNoAllocationPerEvent(t *testing.T) {
	w := NewWriter(discard{}, time.Hour)
	defer w.Close()
	text := event(1)
	for range 1000 {
		w.Write(text)
	}
	if n := testing.AllocsPerRun(1000, func() { w.Write(text) }); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) WriteHeader(int)             {}
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Flush()                      {}

func BenchmarkWriter(b *testing.B) {
	w := NewWriter(discard{}, time.Hour)
	defer w.Close()
	text := []byte("data: " + strings.Repeat("x", 200) + "\n\n")
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		w.Write(text)
	}
}
