package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursortray/proxy/chat"
)

// maxKept is how many recordings stay in the folder.
const maxKept = 20

// recorded is what a file holds.
type recorded struct {
	Note     string    `json:"note"`
	Program  string    `json:"cursortray"` // its version
	At       time.Time `json:"at"`
	Took     int64     `json:"took_ms"`
	Request  request   `json:"request"`
	Answer   answer    `json:"answer"`
	Backend  []event   `json:"backend"` // what came from there
	Panicked bool      `json:"panicked,omitempty"`
}

type request struct {
	Method  string              `json:"method"`
	Path    string              `json:"path"`
	Query   map[string][]string `json:"query,omitempty"`
	Proto   string              `json:"proto"`
	Headers map[string][]string `json:"headers"`
	Bytes   int64               `json:"bytes"`
	Body    json.RawMessage     `json:"body"`
}

type answer struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers"`
	Bytes   int64               `json:"bytes"`
	Cut     bool                `json:"cut,omitempty"` // the rest was too long
	Body    json.RawMessage     `json:"body,omitempty"`
	Events  []streamed          `json:"events,omitempty"` // of a stream
}

// streamed is one event of a stream.
type streamed struct {
	At      int64           `json:"ms"` // since the request
	Event   string          `json:"event,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Comment string          `json:"comment,omitempty"`
}

// event is one event of the back-end.
type event struct {
	At     int64  `json:"ms"`
	Event  string `json:"event"`
	Bytes  int    `json:"bytes,omitempty"`
	Detail string `json:"detail,omitempty"`
}

const note = "Keys and all that was said are replaced by marks: their length, and a hash that compares texts within this recording only."

// event notes an event of the back-end by its kind and size.
func (t *tape) event(e chat.Event, err error) {
	noted := event{At: time.Since(t.began).Milliseconds()}
	switch v := e.(type) {
	case chat.TextDelta:
		noted.Event, noted.Bytes = "text", len(v.Text)
	case chat.ReasoningDelta:
		noted.Event, noted.Bytes = "reasoning", len(v.Text)
	case chat.ToolCall:
		noted.Event, noted.Bytes, noted.Detail = "tool call", len(v.Arguments), v.Name
	case chat.Finish:
		noted.Event, noted.Detail = "finish", fmt.Sprint(v.Reason)
	}
	if err != nil {
		failed := chat.AsError(err)
		noted.Event, noted.Detail = "error", strings.TrimSpace(failed.Kind.String()+" "+failed.Code)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, noted)
}

// result makes the tape a document.
func (t *tape) result(version string) recorded {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := redactor{t.salt}
	status := t.status
	if status == 0 {
		status = 200
		t.header = t.Header().Clone()
	}
	doc := recorded{
		Note: note, Program: version, At: t.began.UTC().Truncate(time.Second), Took: time.Since(t.began).Milliseconds(),
		Request: request{
			Method: t.request.Method, Path: t.request.URL.Path, Query: r.query(t.request.URL.Query()), Proto: t.request.Proto,
			Headers: r.headers(t.request.Header), Bytes: t.body.size, Body: r.json(t.body.text),
		},
		Answer:  answer{Status: status, Headers: r.headers(t.header), Bytes: t.answer.size, Cut: t.answer.size > int64(len(t.answer.text))},
		Backend: t.events,
	}
	if strings.HasPrefix(t.header.Get("Content-Type"), "text/event-stream") {
		doc.Answer.Events = t.stream(r)
	} else {
		doc.Answer.Body = r.json(t.answer.text)
	}
	return doc
}

func (r redactor) query(values url.Values) map[string][]string {
	shown := map[string][]string{}
	for name, list := range values {
		for _, value := range list {
			if value != "true" && value != "false" {
				value = r.mark(value)
			}
			shown[name] = append(shown[name], value)
		}
	}
	return shown
}

// stream takes the answer apart into its events.
func (t *tape) stream(r redactor) []streamed {
	var events []streamed
	at, chunk := 0, 0
	for block := range bytes.SplitSeq(t.answer.text, []byte("\n\n")) {
		for chunk+1 < len(t.chunks) && t.chunks[chunk+1].at <= at {
			chunk++
		}
		at += len(block) + len("\n\n")
		if len(block) == 0 {
			continue
		}
		e := streamed{}
		if len(t.chunks) > 0 {
			e.At = t.chunks[chunk].when.Milliseconds()
		}
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			r.line(string(line), &e)
		}
		events = append(events, e)
	}
	return events
}

func (r redactor) line(line string, e *streamed) {
	field, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch {
	case field == "data" && value == "[DONE]":
		e.Data = quote(value)
	case field == "data":
		e.Data = r.json([]byte(value))
	case field == "event" && word.MatchString(value):
		e.Event = value
	case field == "" && value == "keep-alive":
		e.Comment = value
	default:
		e.Comment = r.mark(line)
	}
}

// save writes the tape into the folder.
func (r *Recorder) save(t *tape, panicked bool) (string, error) {
	doc := t.result(r.cfg.Version)
	doc.Panicked = panicked
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	if err := out.Encode(doc); err != nil {
		return "", err
	}
	if err := os.MkdirAll(r.cfg.Folder, 0o700); err != nil {
		return "", err
	}
	name := "request-" + t.began.UTC().Format("20060102-150405")
	path, err := create(r.cfg.Folder, name, r.cfg.Mask(text.Bytes()))
	if err == nil {
		r.thin()
	}
	return path, err
}

// create makes a file that is not there yet, for the user alone.
func create(folder, name string, text []byte) (string, error) {
	for n := 1; ; n++ {
		path := filepath.Join(folder, name+".json")
		if n > 1 {
			path = filepath.Join(folder, fmt.Sprintf("%s-%d.json", name, n))
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(text)
		return path, errors.Join(err, file.Close())
	}
}

// thin removes the oldest recordings when there are many, as far as that can be
// done. Their names are times.
func (r *Recorder) thin() {
	all, _ := filepath.Glob(filepath.Join(r.cfg.Folder, "request-*.json")) // the pattern is good
	slices.Sort(all)
	for _, old := range all[:max(0, len(all)-maxKept)] {
		_ = os.Remove(old)
	}
}
