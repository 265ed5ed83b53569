//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// without takes lines, or parts of them, out of the streams that pass a
// recorder.
type without struct{ pattern, instead string }

// strippers are agents that miss what the vendors' SDKs do without.
func strippers() map[string]without {
	return map[string]without{
		"continue, the id of a call":    {`"id":"[^"]+","type":"function"`, `"type":"function"`},
		"codex, response.completed":     {`.*"type":"response\.completed".*`, ": gone"},
		"codex, output_item.done":       {`.*"type":"response\.output_item\.done".*`, ": gone"},
		"claude, the end of blocks":     {`.*"type":"content_block_stop".*`, ": gone"},
		"claude, the beginning of them": {`.*"type":"content_block_start".*`, ": gone"},
	}
}

// apply changes the streams among the answers that r forwards.
func (w without) apply(r *recorder) {
	pattern := regexp.MustCompile(w.pattern)
	r.forward.ModifyResponse = func(answer *http.Response) error {
		if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
			answer.Body = &strippedBody{body: answer.Body, lines: bufio.NewReader(answer.Body), strip: func(line []byte) []byte {
				return pattern.ReplaceAll(line, []byte(w.instead))
			}}
		}
		return nil
	}
}

// strippedBody is a body whose lines are changed on the way.
type strippedBody struct {
	body  io.Closer
	lines *bufio.Reader
	strip func(line []byte) []byte
	rest  []byte
}

func (s *strippedBody) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		line, err := s.lines.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		s.rest = s.strip(text)
		if ended {
			s.rest = append(s.rest, '\n')
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *strippedBody) Close() error { return s.body.Close() }

// runWithout checks that a stream that lacks something does not serve the
// client: the same loop works with the whole stream.
func (s *suite) runWithout(t *testing.T, srv *server, c client, gone without) {
	home, file := project(t)
	between := record(t, srv.url)
	gone.apply(between)
	cmd := s.ask(t, c, home, srv.through(between), "Read the file "+file+" and tell me its first line")
	cmd.env = append(cmd.env, "CLAUDE_CODE_MAX_RETRIES=1")
	got := cmd.run(t)
	loops := 0
	for _, r := range between.requests() {
		if r.tools > 0 {
			loops++
		}
	}
	if got.err == nil && strings.Contains(got.stdout, mark) && loops == 2 {
		t.Errorf("%s misses nothing:\n%s", c.name, tail(got.stdout))
	}
}
