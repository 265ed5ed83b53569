package agentcli

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
)

// toolScanner finds the calls that a model writes into its text as
// <tool_call>{"name":…,"arguments":{…}}</tool_call>, also inside a code fence.
// Text goes on at once; only from a "<" that may begin a call is it held back
// until that is decided. What turns out to be no call is text, unchanged.
//
// After the first call text is dropped: the model was told to stop there. More
// calls are taken, unless the client wants one at a time, up to the point
// where the model begins to write results itself.
type toolScanner struct {
	tools  *clienttool.Names
	serial bool

	held   []byte // begins with '<', undecided
	object objectScan
	called bool
	over   bool
	after  []byte // tail of what was dropped behind a call

	longBlocks int // long blocks that were no call
}

func newToolScanner(tools []chat.Tool, serial bool) *toolScanner {
	return &toolScanner{tools: clienttool.NewNames(tools), serial: serial}
}

// feed takes new text and yields TextDelta and ToolCall events. It returns
// false when yield did, or when nothing that follows matters any more.
func (s *toolScanner) feed(text string, yield func(chat.Event) bool) bool {
	for text != "" && !s.over {
		if len(s.held) == 0 {
			i := callAt(text)
			if !s.text(text[:i], yield) {
				return false
			}
			if text = text[i:]; text == "" {
				break
			}
		}
		n, verdict := s.extend(text)
		text = text[n:]
		switch verdict {
		case blockOpen:
		case blockText:
			if !s.release(yield) {
				return false
			}
		case blockWhole:
			if !s.block(yield) {
				return false
			}
		}
	}
	return !s.over
}

// end is the end of an answer that succeeded. A call whose object is complete
// counts even if the model left out its end mark; all else is text. After a
// failure do not call end: half a call is no call and no text.
func (s *toolScanner) end(yield func(chat.Event) bool) bool {
	if len(s.held) == 0 || s.over {
		return true
	}
	if s.object.done() && strings.HasPrefix(callClose, string(bytes.TrimSpace(s.held[s.object.end:]))) {
		return s.block(yield)
	}
	return s.release(yield) && s.end(yield)
}

// release gives up the block that is held, up to where the next may begin, and
// scans the rest anew. After many long blocks that were none, which no model
// writes by chance, all of it is text: scanning it once more for each mark in
// it would take time without bound.
func (s *toolScanner) release(yield func(chat.Event) bool) bool {
	held := string(s.held)
	n := 1 + callAt(held[1:])
	if len(held) > longBlock {
		if s.longBlocks++; s.longBlocks > maxLongBlocks {
			n = len(held)
		}
	}
	s.drop()
	return s.text(held[:n], yield) && s.feed(held[n:], yield)
}

// callAt returns the offset of the first "<" that may begin a call, the length
// of the text if there is none.
func callAt(text string) int {
	at := 0
	for {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return len(text)
		}
		at += i
		if rest := text[at:]; strings.HasPrefix(rest, callOpen) || strings.HasPrefix(callOpen, rest) {
			return at
		}
		at++
	}
}

const (
	longBlock     = 4 << 10
	maxLongBlocks = 64
)

type verdict int

const (
	blockOpen  verdict = iota // undecided
	blockText                 // no call
	blockWhole                // held is a mark, an object and an end mark
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
		if !s.object.done() {
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
		mark := bytes.TrimLeft(s.held[s.object.end:], " \t\r\n")
		if !strings.HasPrefix(callClose, string(mark)) {
			return n, blockText
		}
		if len(mark) == len(callClose) {
			return n, blockWhole
		}
	}
	return n, blockOpen
}

// block turns a whole block into a call, or into text if no offered tool is
// meant.
func (s *toolScanner) block(yield func(chat.Event) bool) bool {
	held := string(s.held)
	object := held[s.object.begin:s.object.end]
	s.drop()
	name, args, ok := parseCall(object)
	if ok {
		name, args, ok = s.tools.Resolve(name, args)
	}
	if !ok {
		return s.text(held, yield)
	}
	s.called = true
	s.after = nil
	s.over = s.serial
	return yield(chat.ToolCall{ID: newCallID(), Name: name, Arguments: args}) && !s.over
}

func (s *toolScanner) drop() {
	s.held = s.held[:0]
	s.object = objectScan{}
}

// resultMark heads the results in prompts. A model that writes it behind its
// own call makes up the outcome, and calls that follow rest on that.
const resultMark = "TOOL_RESULT"

func (s *toolScanner) text(text string, yield func(chat.Event) bool) bool {
	if text == "" {
		return true
	}
	if !s.called {
		return yield(chat.TextDelta{Text: text})
	}
	s.after = append(s.after, text...)
	if bytes.Contains(s.after, []byte(resultMark)) {
		s.over = true
	}
	if n := len(s.after) - len(resultMark); n > 0 {
		s.after = append(s.after[:0], s.after[n:]...)
	}
	return !s.over
}

// objectScan finds the end of a JSON object by its braces outside of strings.
// Offsets are those of held.
type objectScan struct {
	begin, end int
	depth      int
	inString   bool
	escaped    bool
}

func (o *objectScan) done() bool { return o.end > 0 }

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

// parseCall reads the object of a block.
func parseCall(object string) (name string, args json.RawMessage, ok bool) {
	f := raw(object).object()
	if f == nil {
		f = raw(escapeControls(object)).object()
	}
	name = f.str("name")
	if name == "" {
		return "", nil, false
	}
	value := f["arguments"]
	if value == nil {
		value = f["args"]
	}
	if value.is('"') { // the object in a string, as in OpenAI's dialect
		text := raw(strings.TrimSpace(value.str()))
		if len(text) > 0 && text.object() == nil {
			return "", nil, false
		}
		value = text
	}
	switch {
	case len(value) == 0 || string(value) == "null":
		return name, json.RawMessage("{}"), true
	case value.is('{'):
		return name, copyJSON(value), true
	}
	return "", nil, false
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
