package agentcli

import (
	"bytes"
	"slices"
	"strings"
)

// MixedDeltaTracker turns the CLI's mixture of text fragments and repeated
// whole texts into new text only. It knows three rules: a fragment is always
// new; of a whole text ("snapshot") that agrees with the buffer only the part
// behind it is new; a snapshot that diverges is new as it stands, no overlap
// is guessed. It never loses text; repeating some is the lesser evil.
//
// Text and thinking have buffers of their own. The zero value is ready; a
// tracker belongs to one goroutine.
type MixedDeltaTracker struct {
	text  segment
	think segment
}

// Text returns the part of v that is new text of the answer: a tail of v. It
// keeps a copy, v stays the caller's.
func (t *MixedDeltaTracker) Text(v []byte, delta bool) []byte { return t.text.next(v, delta) }

// Thinking is Text for the thinking.
func (t *MixedDeltaTracker) Thinking(v []byte, delta bool) []byte { return t.think.next(v, delta) }

// Reset closes the segment: what follows is compared with nothing before it.
func (t *MixedDeltaTracker) Reset() {
	t.text.reset()
	t.think.reset()
}

// segment is the buffer of one kind of text. The bytes before start belong to
// closed segments of the run.
type segment struct {
	all   byteLog
	start int
}

func (s *segment) next(v []byte, delta bool) []byte {
	if !delta {
		if n := min(len(v), s.all.size-s.start); s.all.holds(s.start, v[:n]) {
			v = v[n:]
		}
	}
	s.all.append(v)
	return v
}

func (s *segment) reset() { s.start = s.all.size }

// recap returns what v adds to the whole run if v repeats all of it. Builds
// have been reported whose closing message repeats every segment, not only the
// last. It applies only where the three rules would call v a rewrite, and only
// if there was an earlier segment.
func (s *segment) recap(v []byte) (rest []byte, ok bool) {
	run := s.all.size
	if s.start == 0 || len(v) < run || s.all.holds(s.start, v[:run-s.start]) || !s.all.holds(0, v[:run]) {
		return nil, false
	}
	return v[run:], true
}

// begins reports whether v begins as the whole run does, but for space.
func (s *segment) begins(v string) bool {
	const enough = 40
	head := strings.TrimSpace(s.all.slice(0, min(s.all.size, 4*enough)))
	v = strings.TrimSpace(v)
	n := min(len(head), len(v), enough)
	return n > 0 && head[:n] == v[:n]
}

// byteLog is an append-only run of bytes in pieces, so that a long answer is
// never copied in order to grow.
type byteLog struct {
	pieces [][]byte // full but for the last
	ends   []int    // offset behind each piece's capacity
	size   int
}

const (
	firstPiece = 1 << 10
	maxPiece   = 64 << 10
)

func (l *byteLog) append(v []byte) {
	for len(v) > 0 {
		last := len(l.pieces) - 1
		if last < 0 || len(l.pieces[last]) == cap(l.pieces[last]) {
			n := firstPiece
			if last >= 0 {
				n = min(2*cap(l.pieces[last]), maxPiece)
			}
			l.pieces = append(l.pieces, make([]byte, 0, n))
			l.ends = append(l.ends, l.size+n)
			last++
		}
		piece := l.pieces[last]
		n := min(cap(piece)-len(piece), len(v))
		l.pieces[last] = append(piece, v[:n]...)
		l.size += n
		v = v[n:]
	}
}

// holds reports whether the bytes at offset from are v; all of v must lie
// within the log.
func (l *byteLog) holds(from int, v []byte) bool {
	if len(v) == 0 {
		return true
	}
	i, _ := slices.BinarySearch(l.ends, from+1)
	for ; len(v) > 0; i++ {
		piece := l.pieces[i][from-(l.ends[i]-cap(l.pieces[i])):]
		n := min(len(piece), len(v))
		if !bytes.Equal(piece[:n], v[:n]) {
			return false
		}
		v, from = v[n:], from+n
	}
	return true
}

// slice returns a copy of n bytes from offset from on.
func (l *byteLog) slice(from, n int) string {
	var b strings.Builder
	b.Grow(n)
	for i, piece := range l.pieces {
		start := l.ends[i] - cap(piece)
		if lo, hi := max(from-start, 0), min(from+n-start, len(piece)); lo < hi {
			b.Write(piece[lo:hi])
		}
	}
	return b.String()
}
