package agentcli

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// hotLine is what the parser needs of the lines that make up nearly the whole
// stream: one piece of text or thinking.
type hotLine struct {
	thinking bool
	delta    bool
	text     []byte // body of the JSON string, part of the line
	escaped  bool   // text holds escapes: see unescape
	session  []byte // body of session_id, not unescaped
}

// scanHot reads a line of type assistant with one text block, or of type
// thinking, without decoding anything else. It reports false for every line
// that is unusual in any way, also for broken JSON: such a line has to be
// decoded in full. The line is not changed.
func scanHot(line []byte) (hotLine, bool) {
	s := hotScan{b: line}
	return s.line()
}

func (s *hotScan) line() (hotLine, bool) {
	if !s.object(s.topField) || s.skipSpace() != len(s.b) {
		return hotLine{}, false
	}
	h := hotLine{
		delta:   s.stamped && !s.called,
		text:    s.text.body,
		escaped: s.text.escaped,
		session: s.session,
	}
	switch s.kind {
	case "assistant":
		return h, s.inMessage && validBody(s.text)
	case "thinking":
		h.thinking = true
		return h, s.seen&fieldText != 0 && !s.inMessage && validBody(s.text)
	}
	return hotLine{}, false
}

// jsonString is a JSON string whose syntax was checked.
type jsonString struct {
	body    []byte
	at      int // offset of body
	escaped bool
	high    bool // has bytes beyond ASCII
}

// validBody is false for invalid UTF-8, which full decoding replaces.
func validBody(s jsonString) bool { return !s.high || utf8.Valid(s.body) }

// Fields that decide something; a repeated one makes the line unusual, since
// the last one would win.
const (
	fieldType = 1 << iota
	fieldSubtype
	fieldText
	fieldMessage
	fieldSession
	fieldStamp
	fieldCall
	fieldRole
	fieldContent
	fieldBlockType
	fieldBlockText
)

// hotScan is a strict JSON scanner over one line. Its methods return false as
// soon as something is not what hot lines have.
type hotScan struct {
	b    []byte
	i    int
	seen int

	kind      string
	text      jsonString
	session   []byte
	stamped   bool // timestamp_ms is there
	stampAt   int  // offset of its digits
	stampEnd  int
	called    bool // model_call_id is there
	inMessage bool // text is that of a message's only block
}

func (s *hotScan) once(field int) bool {
	fresh := s.seen&field == 0
	s.seen |= field
	return fresh
}

func (s *hotScan) topField(key []byte) bool {
	switch string(key) {
	case "type":
		return s.once(fieldType) && s.lineType()
	case "subtype":
		// A completed thinking is a snapshot whatever else it has.
		v, ok := s.plain()
		return ok && s.once(fieldSubtype) && string(v) != "completed"
	case "text":
		if !s.once(fieldText) || s.inMessage {
			return false
		}
		var ok bool
		s.text, ok = s.str()
		return ok
	case "message":
		return s.once(fieldMessage) && s.seen&fieldText == 0 && s.object(s.messageField)
	case "session_id":
		v, ok := s.plain()
		s.session = v
		return ok && s.once(fieldSession)
	case "timestamp_ms":
		s.stampAt = s.skipSpace()
		s.stamped = s.once(fieldStamp) && s.digits()
		s.stampEnd = s.i
		return s.stamped
	case "model_call_id":
		v, ok := s.plain()
		s.called = len(v) > 0
		return ok && s.once(fieldCall)
	}
	return s.skipScalar()
}

func (s *hotScan) lineType() bool {
	v, ok := s.plain()
	switch {
	case !ok:
		return false
	case string(v) == "assistant":
		s.kind = "assistant"
	case string(v) == "thinking":
		s.kind = "thinking"
	default:
		return false // ends the scan of all other lines early
	}
	return true
}

func (s *hotScan) messageField(key []byte) bool {
	switch string(key) {
	case "role":
		return s.once(fieldRole) && s.skipScalar()
	case "content":
		return s.once(fieldContent) && s.accept('[') && s.object(s.blockField) && s.accept(']') &&
			s.seen&fieldBlockType != 0 && s.seen&fieldBlockText != 0
	}
	return s.skipScalar()
}

func (s *hotScan) blockField(key []byte) bool {
	switch string(key) {
	case "type":
		v, ok := s.plain()
		return ok && s.once(fieldBlockType) && string(v) == "text"
	case "text":
		var ok bool
		s.text, ok = s.str()
		s.inMessage = true
		return ok && s.once(fieldBlockText)
	}
	return s.skipScalar()
}

// object reads an object and hands every key to field, which must consume the
// value.
func (s *hotScan) object(field func(key []byte) bool) bool {
	if !s.accept('{') {
		return false
	}
	for {
		key, ok := s.plain()
		if !ok || !s.accept(':') || !field(key) {
			return false
		}
		if s.accept('}') {
			return true
		}
		if !s.accept(',') {
			return false
		}
	}
}

// skipSpace returns the offset of the next byte that is no space.
func (s *hotScan) skipSpace() int {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
	return s.i
}

func (s *hotScan) accept(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c || s.skipSpace() < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// plain reads a string that means what its bytes say.
func (s *hotScan) plain() ([]byte, bool) {
	v, ok := s.str()
	return v.body, ok && !v.escaped && !v.high
}

// digits reads a number without sign, fraction and exponent.
func (s *hotScan) digits() bool {
	s.skipSpace()
	from := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > from && (s.b[from] != '0' || s.i == from+1)
}

// skipScalar reads a value that nothing depends on.
func (s *hotScan) skipScalar() bool {
	if s.skipSpace() == len(s.b) {
		return false
	}
	switch c := s.b[s.i]; {
	case c == '"':
		_, ok := s.str()
		return ok
	case '0' <= c && c <= '9':
		return s.digits()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return false
}

func (s *hotScan) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

// str reads a string and checks its escapes.
func (s *hotScan) str() (v jsonString, ok bool) {
	if !s.accept('"') {
		return v, false
	}
	b, from := s.b, s.i
	for {
		i, high := special(b, s.i)
		v.high = v.high || high
		if i == len(b) || b[i] < ' ' {
			return v, false
		}
		if b[i] == '"' {
			s.i = i + 1
			v.body, v.at = b[from:i], from
			return v, true
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return v, false
		}
		v.escaped = true
		s.i = i + n
	}
}

// Masks for eight bytes at a time.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// special returns the offset of the first byte from i on that is a quote, a
// backslash or a control character, and whether there may be bytes beyond
// ASCII before it. It looks at eight bytes at a time.
func special(b []byte, i int) (at int, high bool) {
	var all uint64
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		all |= w
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// The top bit of each byte that is zero, or below a space; borrows
		// make this wrong only behind the first hit.
		if hit := ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8, all&tops != 0
		}
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		all |= uint64(c)
	}
	return i, all&tops != 0
}

// escapeLen returns the length of the escape at the start of b, 0 if broken.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}
