package agentcli

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// parser turns the lines of one run into canonical events. It does no I/O and
// belongs to one goroutine.
type parser struct {
	noise noise

	hide     redaction
	shapes   hotShapes
	repeat   *repeatFilter // of the next line
	tracker  MixedDeltaTracker
	session  string
	spoke    bool // text, thinking or a call was issued
	calls    calls
	reason   string // of the last error event that did not end the run
	diverted []byte // tail of the plain text on stdout
	unknown  map[string]bool
	over     bool
}

// newParser returns a parser for one run. What hide names is masked in the
// reasons of failures.
func newParser(hide redaction) *parser { return &parser{hide: hide} }

// line takes one line without its "\n", hands the events it gives to emit and
// returns false when the run has ended or emit returned false; then nothing
// more comes. It may overwrite the line, and keeps no part of it.
func (p *parser) line(line []byte, emit func(event) bool) bool {
	if p.over {
		return false
	}
	if r := p.repeat; r != nil {
		p.repeat = nil
		if r.n > 0 {
			return p.repeated(line, r, emit)
		}
	}
	if h, ok := p.shapes.scan(line); ok && (p.session != "" || len(h.session) == 0) {
		return p.hot(h, emit)
	}
	return p.decode(line, emit)
}

// end takes the end of a process that gave no result, and emits the one
// evError of such a run. It does nothing when the run has ended already.
func (p *parser) end(x exit, emit func(event) bool) {
	if p.over {
		return
	}
	p.over = true
	emit(event{kind: evError, fail: p.endFailure(x)})
}

// filter is for lineReader.filter. It drops what is of no use in long lines:
// the echo of the prompt, the results of the CLI's own tools, and the final
// repetitions of an answer that was issued.
func (p *parser) filter(head []byte) lineFilter {
	starts := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	issued := p.tracker.text.all.size
	switch {
	case starts(`{"type":"user",`), starts(`{"type":"tool_call","subtype":"completed",`), starts(`{"type":"result",`) && issued > 0:
		return new(shortener)
	case issued > p.tracker.text.start && p.shapes.assistant().begins(head):
		p.repeat = &repeatFilter{seg: &p.tracker.text, head: len(p.shapes.assistant().head)}
		return p.repeat
	}
	return nil
}

// working says whether a call of the CLI's own tools is under way, so that
// silence is normal, and the longest time such a call set itself, 0 for none.
func (p *parser) working() (open bool, limit time.Duration) { return p.calls.working() }

// unknownTypes lists the types of lines that were ignored, for one log entry
// per run.
func (p *parser) unknownTypes() []string { return slices.Sorted(maps.Keys(p.unknown)) }

func (p *parser) hot(h hotLine, emit func(event) bool) bool {
	text := h.text
	if h.escaped {
		text = unescape(text)
	}
	if h.thinking {
		return p.think(text, h.delta, emit)
	}
	return p.say(text, h.delta, emit)
}

func (p *parser) think(v []byte, delta bool, emit func(event) bool) bool {
	return p.issue(evThinking, p.tracker.Thinking(v, delta), emit)
}

func (p *parser) say(v []byte, delta bool, emit func(event) bool) bool {
	if !delta {
		if rest, ok := p.tracker.text.recap(v); ok {
			v, delta = rest, true
		}
	}
	return p.issue(evText, p.tracker.Text(v, delta), emit)
}

func (p *parser) issue(kind eventKind, text []byte, emit func(event) bool) bool {
	if len(text) == 0 {
		return true
	}
	p.spoke = true
	return p.send(event{kind: kind, text: string(text)}, emit)
}

func (p *parser) send(e event, emit func(event) bool) bool {
	if !emit(e) {
		p.over = true
	}
	return !p.over
}

// decode handles any line.
func (p *parser) decode(line []byte, emit func(event) bool) bool {
	line = cleanLine(line)
	if len(line) == 0 {
		return true
	}
	var f fields
	if err := json.Unmarshal(line, &f); err != nil {
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			p.divert(line)
		}
		return true // else JSON, but no object
	}
	kind := f.str("type")
	if !p.noteSession(kind, f, emit) {
		return false
	}
	switch kind {
	case "assistant":
		return p.assistant(f, emit)
	case "thinking":
		return p.think([]byte(f.str("text")), f.delta() && f.str("subtype") != "completed", emit)
	case "tool_call":
		return p.toolCall(f, emit)
	case "result":
		return p.result(f, emit)
	case "error":
		p.reason = errorText(f)
	case "system":
		if f.str("subtype") == "error" {
			p.reason = errorText(f)
		}
	case "user": // echo of the prompt
	default:
		p.noteUnknown(kind)
	}
	return true
}

func (p *parser) noteSession(kind string, f fields, emit func(event) bool) bool {
	if p.session != "" {
		return true
	}
	p.session = f.str("session_id")
	if p.session == "" {
		return true
	}
	e := event{kind: evSession, id: p.session}
	if kind == "system" {
		e.name = f.str("model")
	}
	return p.send(e, emit)
}

// assistant joins the blocks of a kind. Content may be a plain string.
func (p *parser) assistant(f fields, emit func(event) bool) bool {
	content := f.object("message")["content"]
	var text, thinking []byte
	if content.is('"') {
		text = []byte(content.str())
	}
	for _, block := range content.array() {
		b := block.object()
		switch b.str("type") {
		case "text":
			text = append(text, b.str("text")...)
		case "thinking":
			if b["thinking"].is('"') {
				thinking = append(thinking, b.str("thinking")...)
			} else {
				thinking = append(thinking, b.str("text")...)
			}
		}
	}
	return p.think(thinking, f.delta(), emit) && p.say(text, f.delta(), emit)
}

// result ends the run. Its text is all of the answer once more: it counts only
// if nothing was issued before.
func (p *parser) result(f fields, emit func(event) bool) bool {
	failed := f.failed()
	if !failed && p.tracker.text.all.size == 0 && !p.say([]byte(f.str("result")), true, emit) {
		return false
	}
	if usage := parseUsage(f); usage != nil && !p.send(event{kind: evUsage, usage: usage}, emit) {
		return false
	}
	p.over = true
	switch {
	case failed:
		emit(event{kind: evError, fail: p.resultFailure(resultReason(f))})
	case !p.spoke:
		emit(event{kind: evError, fail: p.newFailure(classEmpty, "")})
	default:
		emit(event{kind: evDone})
	}
	return false
}

const (
	maxDiverted   = 4 << 10
	maxUnknown    = 16
	maxTypeLength = 64
)

// divert keeps the tail of what the CLI prints as plain text; some refusals
// come that way. The pieces of broken events are not kept: they may hold
// answer text, which must not be searched for reasons.
func (p *parser) divert(line []byte) {
	p.noise.add(len(line))
	if line[0] == '{' || isEvent(line) {
		return
	}
	p.diverted = append(append(p.diverted, line...), '\n')
	if n := len(p.diverted) - maxDiverted; n > 0 {
		p.diverted = append([]byte(nil), p.diverted[n:]...)
	}
}

// noise counts the lines that are no JSON. Nothing else is said about them
// anywhere: they can hold words of the answer.
type noise struct {
	lines int
	sizes []int // of the first ones, in bytes
}

func (n *noise) add(size int) {
	n.lines++
	if len(n.sizes) < 3 {
		n.sizes = append(n.sizes, size)
	}
}

// noteUnknown remembers a few names; they come from outside, so only what
// looks like a name is kept.
func (p *parser) noteUnknown(kind string) {
	name := identifier(kind)
	if name == "" || len(p.unknown) >= maxUnknown {
		return
	}
	if p.unknown == nil {
		p.unknown = make(map[string]bool)
	}
	p.unknown[name] = true
}

func identifier(s string) string {
	var b []byte
	for i := 0; i < len(s) && len(b) < maxTypeLength; i++ {
		if c := s[i]; c == '_' || c == '-' || c < utf8.RuneSelf && isAlnum(c) {
			b = append(b, c)
		}
	}
	return string(b)
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
