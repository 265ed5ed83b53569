package recording

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// redactor replaces texts by marks. Equal texts get equal marks within one
// recording; the salt is forgotten with it, so that a mark cannot be guessed
// back.
type redactor struct{ salt []byte }

// mark stands for a text.
func (r redactor) mark(text string) string {
	if text == "" {
		return ""
	}
	sum := hmac.New(sha256.New, r.salt)
	io.WriteString(sum, text)
	return fmt.Sprintf("[text: %d characters, %d bytes, #%s]", utf8.RuneCountInString(text), len(text), hex.EncodeToString(sum.Sum(nil)[:4]))
}

var (
	word      = regexp.MustCompile(`^[A-Za-z0-9_.:/+@-]{1,100}$`)
	fieldName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]{0,63}$`)
)

// wordFields are the fields of the dialects whose texts say nothing but how a
// body is built.
var wordFields = []string{
	"type", "role", "model", "object", "status", "finish_reason", "native_finish_reason", "stop_reason", "code", "param",
	"id", "call_id", "tool_call_id", "tool_use_id", "item_id", "response_id", "required",
	"effort", "reasoning_effort", "reasoning_summary", "tool_choice", "service_tier", "truncation", "verbosity", "phase",
	"detail", "media_type", "display", "mode", "reason", "routed_model", "include", "modalities",
}

// Within these a name is the name of a tool.
var toolPlaces = []string{"tools", "tool_calls", "tool_choice", "function", "function_call", "content", "input", "output", "item", "content_block", "custom"}

// freeFields hold what a model or a user has put there, whatever its shape:
// numbers in them are data, too.
var freeFields = []string{"arguments", "input", "metadata", "client_metadata", "enum", "default", "const", "examples", "logit_bias", "stop", "stop_sequences", "user"}

// json returns a body with its structure and without its texts; what is not
// JSON is one text.
func (r redactor) json(text []byte) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	w := walker{redactor: r, in: decoder}
	err := w.value()
	if err == nil {
		_, err = decoder.Token()
	}
	if !errors.Is(err, io.EOF) || !json.Valid(w.out.Bytes()) {
		return quote(r.mark(string(text)))
	}
	return w.out.Bytes()
}

func quote(text string) json.RawMessage {
	quoted, _ := json.Marshal(text) // texts can be written
	return quoted
}

// walker copies one JSON value.
type walker struct {
	redactor
	in   *json.Decoder
	out  bytes.Buffer
	path []string // names of the objects' fields around the value
	free int      // how many of them hold free data
}

// maxDepth is deeper than bodies of any use.
const maxDepth = 200

func (w *walker) value() error {
	token, err := w.in.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if len(w.path) > maxDepth {
			return errors.New("too deep")
		}
		if v == '{' {
			return w.object()
		}
		return w.array()
	case string:
		w.out.Write(quote(w.text(v)))
	case json.Number:
		if w.free > 0 {
			v = "0"
		}
		w.out.WriteString(v.String())
	default: // bool and nil
		plain, err := json.Marshal(v)
		if err != nil {
			return err
		}
		w.out.Write(plain)
	}
	return nil
}

func (w *walker) array() error {
	w.out.WriteByte('[')
	w.path = append(w.path, w.field()) // for the depth; the field stays the same
	for i := 0; w.in.More(); i++ {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(); err != nil {
			return err
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.out.WriteByte(']')
	_, err := w.in.Token()
	return err
}

func (w *walker) object() error {
	w.out.WriteByte('{')
	for i := 0; w.in.More(); i++ {
		token, err := w.in.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if i > 0 {
			w.out.WriteByte(',')
		}
		shown := name
		if !fieldName.MatchString(name) || len(name) > 40 && w.free > 0 {
			shown = w.mark(name)
		}
		w.out.Write(quote(shown))
		w.out.WriteByte(':')
		// A list of messages is called input, too; its items are not free.
		free := slices.Contains(freeFields, name) && (name != "input" || len(w.path) > 0)
		if free {
			w.free++
		}
		w.path = append(w.path, name)
		err = w.value()
		w.path = w.path[:len(w.path)-1]
		if free {
			w.free--
		}
		if err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	_, err := w.in.Token()
	return err
}

func (w *walker) field() string {
	if len(w.path) == 0 {
		return ""
	}
	return w.path[len(w.path)-1]
}

// text keeps the words that tell how a body is built.
func (w *walker) text(text string) string {
	field := w.field()
	known := slices.Contains(wordFields, field)
	if field == "name" {
		known = slices.ContainsFunc(w.path, func(place string) bool { return slices.Contains(toolPlaces, place) })
	}
	if known && w.free == 0 && word.MatchString(text) {
		return text
	}
	return w.mark(text)
}

// plainHeaders are those whose values say nothing private.
var plainHeaders = []string{
	"accept", "accept-encoding", "accept-language", "allow", "anthropic-beta", "anthropic-version", "cache-control", "connection", "content-length",
	"content-type", "date", "openai-beta", "originator", "retry-after", "transfer-encoding", "upgrade", "user-agent", "x-accel-buffering", "x-app",
	"x-cursortray-context", "x-cursortray-routed-model", "x-content-type-options", "x-should-retry",
}

func (r redactor) headers(headers map[string][]string) map[string][]string {
	shown := map[string][]string{}
	for name, values := range headers {
		lower := strings.ToLower(name)
		plain := slices.Contains(plainHeaders, lower) || strings.HasPrefix(lower, "x-stainless-")
		for _, value := range values {
			if !plain {
				value = r.mark(value)
			}
			shown[lower] = append(shown[lower], value)
		}
	}
	return shown
}
