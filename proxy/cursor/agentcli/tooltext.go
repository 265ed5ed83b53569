package agentcli

import (
	"bytes"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
)

// toolScanner finds the calls that a model writes into its text as
// <tool_call>{"name":…,"arguments":{…}}</tool_call>, also inside a code fence.
// Text goes on at once; only from a "<" that may begin a call is it held back
// until that is decided, and so is the opening line of a fence, which is dropped
// together with its call. What turns out to be no call is text, unchanged: words
// about calls, blocks in inline code, and blocks that cannot be handed over.
// After one of the latter comes a note that says so.
//
// After the first call text is dropped: the model was told to stop there. More
// calls are taken, unless the client wants one at a time, up to the point
// where the model begins to write results itself.
type toolScanner struct {
	tools  *clienttool.Names
	only   string // the one tool that may be called, "" for any
	serial bool

	line   lineState // behind the text so far, in front of what is held
	fence  fenceHold // held back in front of held
	held   []byte    // begins with '<', undecided
	object objectScan
	tail   []byte // behind a whole block in what may be inline code
	waits  bool   // for the rest of that line
	called bool
	over   bool
	after  []byte // tail of what was dropped behind a call

	longBlocks int  // long blocks that were no call
	notes      int  // that were given
	noted      bool // a note was the last that went out
	lost       int  // blocks behind a call that could not be handed over
}

func newToolScanner(tools []chat.Tool, serial bool) *toolScanner {
	return &toolScanner{tools: clienttool.NewNames(tools), serial: serial}
}

// feed takes new text and yields TextDelta and ToolCall events. It returns
// false when yield did, or when nothing that follows matters any more.
func (s *toolScanner) feed(text string, yield func(chat.Event) bool) bool {
	for text != "" && !s.over {
		n, more := s.step(text, yield)
		if !more {
			return false
		}
		text = text[n:]
	}
	return !s.over
}

// step deals with the beginning of text and says how much that was.
func (s *toolScanner) step(text string, yield func(chat.Event) bool) (n int, more bool) {
	switch {
	case s.waits:
		return 1, s.wait(text[0], yield)
	case len(s.held) > 0:
	case s.fence.text != nil:
		n, v := s.fence.extend(text)
		switch v {
		case fenceOpen:
			return n, true
		case fenceNone:
			return n, s.text(s.fence.take(), yield)
		}
		m, more := s.candidate(text[n:], yield)
		return n + m, more
	default:
		n, fence := s.plain(text)
		if n > 0 {
			return n, s.text(text[:n], yield)
		}
		if fence {
			s.fence.text = []byte{}
			return 0, true
		}
	}
	return s.candidate(text, yield)
}

// wait looks for the end of inline code behind a whole block.
func (s *toolScanner) wait(c byte, yield func(chat.Event) bool) bool {
	behindRun := len(s.tail) > 0 && s.tail[len(s.tail)-1] == '`' && c != '`'
	s.tail = append(s.tail, c)
	if c != '\n' && !behindRun && len(s.tail) <= longestSpan {
		return true // nothing is decided by it
	}
	switch s.line.closes(s.tail, false) {
	case spanCloses:
		return s.prose(yield)
	case spanStaysOpen:
		s.line.span = 0 // the backtick was a stray
		return s.block(yield)
	}
	return true
}

// candidate goes on with what may be a call.
func (s *toolScanner) candidate(text string, yield func(chat.Event) bool) (n int, more bool) {
	n, verdict := s.extend(text)
	switch verdict {
	case blockText:
		return n, s.release(yield)
	case blockBroken:
		if s.inlineCode() != notCode {
			return n, s.prose(yield)
		}
		return n, s.refuse(len(s.held), brokenJSON, yield)
	case blockWhole:
		switch s.inlineCode() {
		case directlyInCode:
			return n, s.prose(yield)
		case perhapsInCode:
			s.waits = true
			return n, true
		}
		return n, s.block(yield)
	}
	return n, true
}

// end is the end of an answer that succeeded. A call whose object is complete
// counts even if the model left out its end mark; all else is text. After a
// failure do not call end: half a call is no call and no text.
func (s *toolScanner) end(yield func(chat.Event) bool) bool {
	switch {
	case s.over:
		return true
	case s.waits:
		if s.line.closes(s.tail, true) == spanCloses {
			return s.prose(yield) && s.end(yield)
		}
		return s.block(yield) && s.end(yield)
	case len(s.held) == 0:
		return s.text(s.fence.take(), yield)
	case s.object.done() && strings.HasPrefix(callClose, string(bytes.TrimSpace(s.held[s.object.end:]))) && s.inlineCode() != directlyInCode:
		return s.block(yield)
	}
	if n := s.cut(); n > 0 && s.inlineCode() == notCode {
		return s.refuse(n, brokenOff, yield) && s.end(yield)
	}
	return s.release(yield) && s.end(yield)
}

// cut returns how much of what is held is a call that the model did not bring to
// its end, 0 if it is none.
func (s *toolScanner) cut() int {
	if s.object.done() {
		return len(s.held)
	}
	if s.object.begin == 0 || !bytes.HasPrefix(bytes.TrimLeft(s.held[s.object.begin+1:], " \t\r\n"), []byte{'"'}) {
		return 0
	}
	next := 1 + bytes.Index(s.held[1:], []byte(callOpen))
	end := bytes.Index(s.held, []byte(callClose)) // it looked like a part of a string
	switch {
	case next > 0 && (end < 0 || next < end):
		return 0
	case end >= 0:
		return end + len(callClose)
	}
	return len(s.held)
}

// plain returns how much of text is text for sure, and whether it is the opening
// of a fence that comes then.
func (s *toolScanner) plain(text string) (n int, fence bool) {
	call := callAt(text)
	if strings.IndexByte(text[:call], '`') < 0 {
		return call, false
	}
	line := s.line
	for at := 0; at < call; {
		end, next := len(text), len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end, next = at+i, at+i+1
		}
		if i, ok := line.fenceIn(text[at:end], next > end); ok {
			return at + i, true
		}
		line.pass(text[at:next])
		at = next
	}
	return call, false
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
		if mayBeCall(text[at:]) {
			return at
		}
		at++
	}
}

func mayBeCall(text string) bool {
	return strings.HasPrefix(text, callOpen) || strings.HasPrefix(callOpen, text)
}

const (
	longBlock     = 4 << 10
	maxLongBlocks = 64
)

// tooLong counts long texts that are to be scanned anew. After many of them, which
// no model writes by chance, all of it is text: scanning it once more for each
// mark in it would take time without bound.
func (s *toolScanner) tooLong(text string) bool {
	if len(text) > longBlock {
		s.longBlocks++
	}
	return s.longBlocks > maxLongBlocks && len(text) > longBlock
}

// release gives up the block that is held, up to where the next may begin, and
// scans the rest anew.
func (s *toolScanner) release(yield func(chat.Event) bool) bool {
	held := string(s.held)
	n := 1 + callAt(held[1:])
	if s.tooLong(held) {
		n = len(held)
	}
	fence := s.fence.take()
	s.drop()
	return s.text(fence+held[:n], yield) && s.feed(held[n:], yield)
}

// prose gives up a whole block that was never meant as a call.
func (s *toolScanner) prose(yield func(chat.Event) bool) bool {
	held, tail := s.fence.take()+string(s.held), string(s.tail)
	s.drop()
	return s.text(held, yield) && s.feed(tail, yield)
}

// block turns a whole block into a call, if an offered tool is meant.
func (s *toolScanner) block(yield func(chat.Event) bool) bool {
	name, args, why := s.read(string(s.held[s.object.begin:s.object.end]))
	switch why {
	case "":
	case noCall:
		return s.prose(yield)
	default:
		return s.refuse(len(s.held), why, yield)
	}
	s.line.pass(s.fence.take() + string(s.held))
	tail := string(s.tail)
	s.drop()
	s.called = true
	s.after = nil
	s.over = s.serial
	return yield(chat.ToolCall{ID: newCallID(), Name: name, Arguments: args}) && s.feed(tail, yield) && !s.over
}

func (s *toolScanner) drop() {
	s.held, s.tail = s.held[:0], s.tail[:0]
	s.waits = false
	s.object = objectScan{}
}

// resultMark heads the results in prompts. A model that writes it behind its
// own call makes up the outcome, and calls that follow rest on that.
const resultMark = "TOOL_RESULT"

func (s *toolScanner) text(text string, yield func(chat.Event) bool) bool {
	if text == "" {
		return true
	}
	s.line.pass(text)
	if !s.called {
		if s.noted && text[0] != '\n' {
			text = "\n" + text
		}
		s.noted = false
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
