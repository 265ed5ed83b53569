package agentcli

import "strings"

// lineState follows the backticks of a text, as far as they decide whether a
// block is a call: in inline code it is an example, behind the opening line of a
// code fence it is real. The zero value is the start of a text.
type lineState struct {
	fenced int  // backticks of the fence that is open, 0 for none
	inked  bool // there is more than space on the line
	run    int  // backticks at the very end
	first  bool // that run is the first thing on the line
	lead   int  // three or more backticks with which the line begins, 0 for less
	words  bool // something comes behind them
	span   int  // backticks that opened inline code on this line, 0 outside
}

// pass moves on over text.
func (l *lineState) pass(text string) {
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			l.within(text)
			return
		}
		l.within(text[:i])
		l.endLine()
		text = text[i+1:]
	}
}

func (l *lineState) endLine() {
	l.endRun()
	switch {
	case l.lead == 0:
	case l.fenced == 0:
		l.fenced = l.lead
	case l.lead >= l.fenced && !l.words:
		l.fenced = 0
	}
	*l = lineState{fenced: l.fenced}
}

func (l *lineState) within(text string) {
	for text != "" {
		if text[0] == '`' {
			if l.run == 0 {
				l.first = !l.inked
			}
			l.run++
			text = text[1:]
			continue
		}
		l.endRun()
		n := strings.IndexByte(text, '`')
		if n < 0 {
			n = len(text)
		}
		if strings.Trim(text[:n], " \t\r") != "" {
			l.inked = true
			l.words = l.lead > 0
		}
		text = text[n:]
	}
}

// endRun decides what the backticks at the end are.
func (l *lineState) endRun() {
	if l.run == 0 {
		return
	}
	run := l.run
	l.run = 0
	l.inked = true
	if l.first && run >= 3 {
		l.lead = run
		return
	}
	if l.lead > 0 { // no fence has backticks on its line: that was inline code
		l.span, l.lead = l.lead, 0
	}
	switch l.span {
	case 0:
		l.span = run
	case run:
		l.span = 0
	}
}

// fenceIn returns where in the rest of a line an opening fence may begin; whole
// says that the line ends there.
func (l *lineState) fenceIn(rest string, whole bool) (at int, ok bool) {
	if l.inked || l.run > 0 || l.fenced > 0 {
		return 0, false
	}
	marks := strings.TrimLeft(rest, " \t")
	run := len(marks) - len(strings.TrimLeft(marks, "`"))
	return len(rest) - len(marks), run >= 3 || run > 0 && run == len(marks) && !whole
}

// inline says whether a block is in inline code.
type inline int

const (
	notCode        inline = iota
	directlyInCode        // right behind the backtick that opens it
	perhapsInCode         // behind one that may be closed on the same line
)

// inlineCode looks at what is in front of held.
func (s *toolScanner) inlineCode() inline {
	line := s.line
	line.endRun()
	switch {
	case s.fence.text != nil, line.span == 0:
		return notCode
	case s.line.run > 0:
		return directlyInCode
	}
	return perhapsInCode
}

// spanEnd says whether inline code ends on its line.
type spanEnd int

const (
	spanUndecided spanEnd = iota
	spanCloses
	spanStaysOpen
)

const longestSpan = 256 // behind the block

// closes looks for the end of inline code in what follows a block on its line.
// The text is over if last is true.
func (l *lineState) closes(tail []byte, last bool) spanEnd {
	line := *l
	line.endRun()
	run := 0
	for i, c := range tail {
		if c == '`' {
			run++
			if run == line.span && last && i == len(tail)-1 {
				return spanCloses
			}
			continue
		}
		if run == line.span {
			return spanCloses
		}
		run = 0
		if c == '\n' {
			return spanStaysOpen
		}
	}
	if last || len(tail) > longestSpan {
		return spanStaysOpen
	}
	return spanUndecided
}

// fenceHold is the opening line of a code fence that is held back, with the empty
// lines behind it: together with a call it is of no use to anybody.
type fenceHold struct {
	text  []byte // nil when nothing is held
	ticks int
	below bool // the line has ended
}

type fenceVerdict int

const (
	fenceOpen fenceVerdict = iota // undecided
	fenceNone                     // no fence, or one around something else
	fenceCall                     // what comes now may be a call
)

const longestFence = 128

// extend moves bytes from text to the fence until it is decided.
func (f *fenceHold) extend(text string) (n int, v fenceVerdict) {
	for ; n < len(text); n++ {
		c := text[n]
		switch {
		case c == '`' && f.ticks == len(f.text):
			f.ticks++
		case f.ticks < 3, c == '`', len(f.text) >= longestFence:
			return n, fenceNone
		case c == '<' && mayBeCall(text[n:]):
			return n, fenceCall
		case c == '\n':
			f.below = true
		case f.below && c != ' ' && c != '\t' && c != '\r':
			return n, fenceNone
		}
		f.text = append(f.text, c)
	}
	return n, fenceOpen
}

// take gives up the fence and returns its text.
func (f *fenceHold) take() string {
	text := string(f.text)
	*f = fenceHold{}
	return text
}
