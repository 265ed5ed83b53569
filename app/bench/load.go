package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// job is what a load process does: Streams requests at once, Rounds times.
type job struct {
	URL     string
	Key     string
	Streams int
	Rounds  int
	// Interval is the pace that the fake keeps; with it the result holds how
	// late tokens were.
	Interval time.Duration
	// Stamped tells that tokens begin with the time at which they were written,
	// so that the result can hold how late each was.
	Stamped bool
	Tools   bool // the requests bring a tool
}

// loadResult is what a load process prints, as one line of JSON.
type loadResult struct {
	First  []time.Duration // per request: start to first content, sorted
	Late   []time.Duration // per token: behind its stream's pace, or since it was written; sorted
	Chunks int             // with content, of all requests
	Bytes  int64
	Span   time.Duration // from the first content of any request to the end of all
	Total  time.Duration // from the start of all requests to the end of all
}

// stream is what was seen of one request.
type stream struct {
	start, first, end time.Time
	arrivals          []time.Duration // since start; with a pace only
	delays            []time.Duration // since they were written; with stamps only
	chunks            int
	bytes             int64
	err               error
}

// runLoad is the body of a load process.
func runLoad(jobText string) error {
	var j job
	if err := json.Unmarshal([]byte(jobText), &j); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: j.Streams, ReadBufferSize: 64 << 10}}
	var result loadResult
	for range j.Rounds {
		round := make([]stream, j.Streams)
		var wait sync.WaitGroup
		for i := range round {
			wait.Go(func() { round[i] = j.request(client) })
		}
		wait.Wait()
		if err := result.add(round, j.Interval); err != nil {
			return err
		}
	}
	slices.Sort(result.First)
	slices.Sort(result.Late)
	return json.NewEncoder(os.Stdout).Encode(result)
}

func (r *loadResult) add(round []stream, interval time.Duration) error {
	begin, first, end := round[0].start, round[0].first, round[0].end
	for _, s := range round {
		if s.err != nil {
			return s.err
		}
		begin, end = earlier(begin, s.start), later(end, s.end)
		first = earlier(first, s.first)
		r.First = append(r.First, s.first.Sub(s.start))
		r.Chunks += s.chunks
		r.Bytes += s.bytes
		r.Late = append(r.Late, late(s.arrivals, interval)...)
		r.Late = append(r.Late, s.delays...)
	}
	r.Span += end.Sub(first)
	r.Total += end.Sub(begin)
	return nil
}

// late returns how far each token was behind an even pace. The pace's origin
// is the one that the earliest token, relative to its place, allows.
func late(arrivals []time.Duration, interval time.Duration) []time.Duration {
	if len(arrivals) == 0 {
		return nil
	}
	behind := make([]time.Duration, len(arrivals))
	for i, at := range arrivals {
		behind[i] = at - time.Duration(i)*interval
	}
	origin := slices.Min(behind)
	for i := range behind {
		behind[i] -= origin
	}
	return behind
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

const prompt = "Say something that takes a while."

// oneTool is what a request with tools brings.
const oneTool = `,"tools":[{"type":"function","function":{"name":"` + toolName + `","description":"Read a file",` +
	`"parameters":{"type":"object","properties":{"path":{"type":"string","description":"absolute path"}},"required":["path"]}}}]`

const toolName = "read"

func newRequest(url, key string, tools bool) (*http.Request, error) {
	more := ""
	if tools {
		more = oneTool
	}
	body := fmt.Sprintf(`{"model":"auto","stream":true,"messages":[{"role":"user","content":%q}]%s}`, prompt, more)
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

func (j job) request(client *http.Client) (s stream) {
	req, err := newRequest(j.URL, j.Key, j.Tools)
	if err != nil {
		return stream{err: err}
	}
	s.start = time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return stream{err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return stream{err: fmt.Errorf("status %d: %s", resp.StatusCode, text)}
	}
	s.err = s.read(resp.Body, j)
	s.end = time.Now()
	return s
}

var (
	contentMark = []byte(`"content":"`)
	doneMark    = []byte("data: [DONE]")
)

// hasContent tells whether a line of the event stream carries text.
func hasContent(line []byte) bool {
	at := bytes.Index(line, contentMark)
	return at >= 0 && at+len(contentMark) < len(line) && line[at+len(contentMark)] != '"'
}

// delay returns how long ago the text of a line was written.
func delay(line []byte) time.Duration {
	text := line[bytes.Index(line, contentMark)+len(contentMark):]
	written, ok := simserver.StampOf(string(text[:min(len(text), 16)]))
	if !ok {
		return time.Hour // which is noticed
	}
	return time.Since(written)
}

// read goes through the event stream until its end mark.
func (s *stream) read(body io.Reader, j job) error {
	lines := bufio.NewReaderSize(body, 256<<10)
	for {
		line, err := lines.ReadSlice('\n')
		s.bytes += int64(len(line))
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return fmt.Errorf("the stream broke off after %d chunks: %w", s.chunks, err)
		}
		switch {
		case hasContent(line):
			s.chunks++
			if s.first.IsZero() {
				s.first = time.Now()
			}
			if j.Interval > 0 {
				s.arrivals = append(s.arrivals, time.Since(s.start))
			}
			if j.Stamped {
				s.delays = append(s.delays, delay(line))
			}
		case bytes.HasPrefix(line, doneMark):
			if s.chunks == 0 {
				return fmt.Errorf("an answer without text")
			}
			return nil
		}
	}
}
