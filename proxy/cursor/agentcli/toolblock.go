package agentcli

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"

	"cursortray/proxy/chat"
)

type verdict int

const (
	blockOpen   verdict = iota // undecided
	blockText                  // no call
	blockWhole                 // held is a mark, an object and an end mark
	blockBroken                // held is a mark, something that is no whole object, and an end mark
)

// junk is what stands between an object and its end mark: space, and what a model
// writes too much when it miscounts its brackets.
const (
	junk    = " \t\r\n}])\"',;"
	maxJunk = 1 << 10
)

// extend moves bytes from text to held until the block is decided.
func (s *toolScanner) extend(text string) (n int, v verdict) {
	for n < len(text) {
		if len(s.held) < len(callOpen) {
			if text[n] != callOpen[len(s.held)] {
				return n, blockText
			}
			s.held = append(s.held, text[n])
			n++
			continue
		}
		if s.object.end == 0 {
			m, ok := s.object.scan(text[n:], len(s.held))
			s.held = append(s.held, text[n:n+m]...)
			n += m
			if !ok {
				return n, blockText
			}
			continue
		}
		c := text[n]
		s.held = append(s.held, c)
		n++
		rest := s.held[s.object.end:]
		mark := bytes.TrimLeft(rest, junk)
		switch {
		case !strings.HasPrefix(callClose, string(mark)), len(rest)-len(mark) > maxJunk:
			return n, blockText
		case len(mark) < len(callClose):
		case s.object.done() && len(mark) == len(bytes.TrimSpace(rest)):
			return n, blockWhole
		default:
			return n, blockBroken
		}
	}
	return n, blockOpen
}

const maxNotes = 8 // in one answer; the reader has understood by then

// refuse gives up the first n bytes of what is held, a block that was meant as a
// call, and tells the reader: otherwise it looks as if the client had lost it.
func (s *toolScanner) refuse(n int, why string, yield func(chat.Event) bool) bool {
	held, rest := s.fence.take()+string(s.held[:n]), string(s.held[n:])+string(s.tail)
	s.drop()
	if !s.text(held, yield) {
		return false
	}
	if s.called {
		s.lost++
	} else if s.notes < maxNotes {
		s.notes++
		note := "\n[cursortray: this call was not handed over: " + why + "]"
		s.line.pass(note)
		s.noted = true
		if !yield(chat.TextDelta{Text: note}) {
			return false
		}
	}
	if s.tooLong(rest) {
		return s.text(rest, yield)
	}
	return s.feed(rest, yield)
}

// objectScan finds the end of a JSON object by its braces outside of strings.
// Offsets are those of held.
type objectScan struct {
	begin, end int
	depth      int
	inString   bool
	escaped    bool
	broken     bool // a "<" that is in no string: the object is not whole
}

func (o *objectScan) done() bool { return o.end > 0 && !o.broken }

// scan takes bytes that come at offset at, up to the end of the object. It
// reports false if no object begins.
func (o *objectScan) scan(text string, at int) (n int, ok bool) {
	for ; n < len(text); n++ {
		c := text[n]
		switch {
		case o.begin == 0:
			if c == '{' {
				o.begin = at + n
				o.depth = 1
			} else if !strings.ContainsRune(" \t\r\n", rune(c)) {
				return n, false
			}
		case o.inString:
			switch {
			case o.escaped:
				o.escaped = false
			case c == '\\':
				o.escaped = true
			case c == '"':
				o.inString = false
			}
		case c == '"':
			o.inString = true
		case c == '<':
			o.end = at + n
			o.broken = true
			return n, true
		case c == '{', c == '[':
			o.depth++
		case c == '}', c == ']':
			if o.depth--; o.depth == 0 {
				o.end = at + n + 1
				return n + 1, true
			}
		}
	}
	return n, true
}

// Reasons why a block is no call for the client.
const (
	noCall      = "-" // it was never meant as one
	brokenJSON  = "it is no valid JSON"
	brokenOff   = "it breaks off"
	nameless    = "it names no tool"
	noArguments = "its arguments are no JSON object"
)

// read takes the object of a block apart and finds the tool that it means, or
// the reason why there is none.
func (s *toolScanner) read(object string) (name string, args json.RawMessage, why string) {
	spelled, args, why := parseCall(object)
	if why != "" {
		return "", nil, why
	}
	name, args, ok := s.tools.Resolve(spelled, args)
	switch {
	case !ok:
		return "", nil, "the client offers no tool " + quoteName(spelled)
	case s.only != "" && name != s.only:
		return "", nil, "the client lets no tool but " + quoteName(s.only) + " be called now"
	}
	return name, args, ""
}

// quoteName shows a name that the model made up.
func quoteName(name string) string { return strconv.Quote(clip(name, maxNamed)) }

// parseCall reads the object of a block.
func parseCall(object string) (name string, args json.RawMessage, why string) {
	f := raw(object).object()
	if f == nil {
		f = raw(escapeControls(object)).object()
	}
	if f == nil {
		if strings.Contains(object, "name") {
			return "", nil, brokenJSON
		}
		return "", nil, noCall // such as {...}
	}
	name = f.str("name")
	if name == "" {
		return "", nil, nameless
	}
	value := f["arguments"]
	if value == nil {
		value = f["args"]
	}
	if value.is('"') { // the object in a string, as in OpenAI's dialect
		text := raw(strings.TrimSpace(value.str()))
		if len(text) > 0 && text.object() == nil {
			return "", nil, noArguments
		}
		value = text
	}
	switch {
	case len(value) == 0 || string(value) == "null":
		return name, json.RawMessage("{}"), ""
	case value.is('{'):
		return name, copyJSON(value), ""
	}
	return "", nil, noArguments
}

// escapeControls repairs the commonest mistake of models in JSON: line ends
// and tabs that stand in a string as they are. They have one meaning only.
func escapeControls(object string) []byte {
	var b bytes.Buffer
	inString, escaped := false, false
	for i := 0; i < len(object); i++ {
		c := object[i]
		if inString && c < ' ' && !escaped {
			b.Write(bytes.Trim(quoteJSON(string(c)), `"`))
			continue
		}
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		}
		b.WriteByte(c)
	}
	return b.Bytes()
}

// newCallID returns an id that no other call has: 31 letters and digits.
func newCallID() string { return "call_" + rand.Text() }
