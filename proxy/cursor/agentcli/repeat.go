package agentcli

import (
	"slices"
	"unicode/utf8"
)

// repeatFilter drops the beginning of a long message of the model while it is
// read, as far as it repeats the text that was issued: a closing message
// repeats all of an answer, which may be megabytes. The parser knows from it
// what is missing, so nothing is lost if the message turns out to be no
// repetition.
type repeatFilter struct {
	seg  *segment
	head int // length of the line up to the text
	n    int // bytes of the segment that were found and dropped
	over bool

	unit [12]byte // room for one escape
}

func (r *repeatFilter) skipped() { r.n = 0 }

// run implements lineFilter. Characters that are escaped count as one; one
// that is not there as a whole waits for the rest.
func (r *repeatFilter) run(line []byte, from int) (kept, done int) {
	w := max(from, r.head)
	i := w
	for i < len(line) && !r.over {
		run, size := r.character(line[i:])
		if size == 0 && !r.over {
			break
		}
		if r.over || !r.repeats(run) {
			r.over = true
			break
		}
		i += size
	}
	kept = w + copy(line[w:], line[i:])
	if r.over {
		return kept, kept
	}
	return kept, w
}

// character returns what the beginning of a string's body means, and its
// length there: a run of plain bytes, or one escape. The length is 0 if an
// escape is cut, and at the end of the string.
func (r *repeatFilter) character(b []byte) (means []byte, size int) {
	switch b[0] {
	case '"':
		r.over = true
		return nil, 0
	case '\\':
		size = r.escape(b)
		if size == 0 {
			return nil, 0
		}
		return unescape(r.unit[:copy(r.unit[:], b[:size])]), size
	}
	end, _ := special(b, 0)
	// No more than the segment has: the rest is new.
	end = min(end, r.seg.all.size-r.seg.start-r.n)
	if end == 0 {
		r.over = true // also at a control character
	}
	return b[:end], end
}

// escape returns the length of the escape at the start of b, both halves of a
// surrogate pair taken together; 0 if it is cut or broken.
func (r *repeatFilter) escape(b []byte) int {
	n := escapeLen(b)
	switch {
	case n == 0:
		r.over = len(b) >= 6
	case n == 6 && surrogate(b, '8', 'b'):
		if len(b) < 12 {
			return 0
		}
		if escapeLen(b[6:]) == 6 && surrogate(b[6:], 'c', 'f') {
			return 12
		}
	}
	return n
}

// surrogate reports whether a \u escape stands for a surrogate whose second
// digit lies in a range.
func surrogate(b []byte, low, high byte) bool {
	digit := b[3] | 0x20 // lower case; digits stay as they are
	return b[2]|0x20 == 'd' && low <= digit && digit <= high
}

// repeats reports whether the segment goes on with v, and notes it.
func (r *repeatFilter) repeats(v []byte) bool {
	at := r.seg.start + r.n
	if at+len(v) > r.seg.all.size || !r.seg.all.holds(at, v) {
		return false
	}
	r.n += len(v)
	return true
}

// all reports whether the whole segment was repeated.
func (r *repeatFilter) all() bool { return r.seg.start+r.n == r.seg.all.size }

// inCharacter reports whether the repetition ends inside a character of the
// segment, which means that the line's own bytes are no valid text there.
func (r *repeatFilter) inCharacter() bool {
	return !r.all() && !utf8.RuneStart(r.seg.all.slice(r.seg.start+r.n, 1)[0])
}

// restore puts back what was dropped from a line.
func (r *repeatFilter) restore(line []byte) []byte {
	text := quoteJSON(r.seg.all.slice(r.seg.start, r.n))
	return slices.Concat(line[:r.head], text[1:len(text)-1], line[r.head:])
}

// repeated handles a line that went through a repeatFilter. Unless it is a
// plain repetition, at most with new text behind it, it is made whole again.
func (p *parser) repeated(line []byte, r *repeatFilter, emit func(event) bool) bool {
	h, ok := scanHot(line)
	plain := ok && !h.thinking && !h.delta && (p.session != "" || len(h.session) == 0)
	if !plain || !r.all() && (len(h.text) > 0 || r.inCharacter()) {
		return p.line(r.restore(line), emit)
	}
	h.delta = true // what is left is new
	return p.hot(h, emit)
}
