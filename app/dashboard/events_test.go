package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// stream is an open page that listens.
type stream struct {
	t    *testing.T
	resp *http.Response
	read *bufio.Scanner
	stop context.CancelFunc
}

func (r *rig) listen(query string) *stream {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	r.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL+Root+"events?"+query, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	resp, err := r.browser.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	read := bufio.NewScanner(resp.Body)
	read.Buffer(nil, 1<<20)
	return &stream{r.t, resp, read, cancel}
}

// next returns the next part that came.
func (s *stream) next() part {
	s.t.Helper()
	for s.read.Scan() {
		if data, ok := strings.CutPrefix(s.read.Text(), "data: "); ok {
			var p part
			if err := json.Unmarshal([]byte(data), &p); err != nil {
				s.t.Fatal(err)
			}
			return p
		}
	}
	s.t.Fatalf("the stream has ended: %v", s.read.Err())
	return part{}
}

func TestAnOpenPageGetsWhatHasChanged(t *testing.T) {
	r := newRig(t)
	r.enter("overview")
	s := r.listen("page=overview")
	if kind := s.resp.Header.Get("Content-Type"); kind != "text/event-stream; charset=utf-8" {
		t.Errorf("Content-Type %q", kind)
	}
	first := map[string]string{}
	for range 5 {
		p := s.next()
		first[p.ID] = p.Rev
	}
	if len(first) != 5 {
		t.Fatalf("the first parts are %v", first)
	}
	snap := healthy()
	snap.KeyProblem = "the keychain is locked"
	r.app.publish(snap)
	changed := map[string]string{}
	for range 2 {
		p := s.next()
		changed[p.ID] = string(p.HTML)
		if p.Rev == first[p.ID] {
			t.Errorf("%s came without a change", p.ID)
		}
	}
	if !strings.Contains(changed["overview-problems"], "The keychain is locked.") || !strings.Contains(changed["bar-state"], "Needs attention") {
		t.Errorf("what came is %v", changed)
	}
	s.stop()
	r.server.Close() // waits for the handler
}

func TestStreamsEndWithTheServerAndAreFew(t *testing.T) {
	r := newRig(t)
	r.enter("overview")
	var all []*stream
	for range maxStreams {
		s := r.listen("page=start")
		s.next()
		all = append(all, s)
	}
	if s := r.listen("page=start"); s.resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more has status %d", s.resp.StatusCode)
	}
	if s := r.listen("page=nonsense"); s.resp.StatusCode != http.StatusNotFound {
		t.Errorf("a page that is not there has status %d", s.resp.StatusCode)
	}
	for _, s := range all {
		s.stop()
		s.resp.Body.Close()
	}
	r.server.Close()
	if n := r.streams.Load(); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}
