package agentcli

import (
	"bytes"
	"io"
	"slices"
)

const (
	// maxLine is the longest line that is kept. The CLI repeats the whole
	// prompt and whole tool results in one line each, so this is far above
	// anything sensible and only bounds memory.
	maxLine = 32 << 20

	lineBuffer = 64 << 10 // start size
	longLine   = 256 << 10
	keepBuffer = 1 << 20 // a buffer beyond this is given up after its long line
)

// lineFilter takes parts out of one line while it is read.
type lineFilter interface {
	// run sees the line so far and changes it in place from offset from on. It
	// returns the line's new length, and from where it wants to see it again.
	run(line []byte, from int) (kept, done int)
	// skipped tells that the line was too long and nobody gets it.
	skipped()
}

// lineReader cuts a byte stream into lines at '\n'. Reads may end anywhere,
// also inside a character. It belongs to one goroutine.
type lineReader struct {
	// filter, if set, is asked about each line that has grown long while it is
	// still being read, and sees its beginning. What it returns, if anything,
	// takes useless parts out of the line on the way in.
	filter func(head []byte) lineFilter

	r       io.Reader
	err     error
	skipped int // lines over maxLine

	buf     []byte // buf[start:] was read and not handed out
	start   int
	scanned int // buf[start:scanned] is the line so far

	// State of the line that is being read.
	length int  // bytes so far, also those taken out
	asked  bool // filter was asked
	active lineFilter
	done   int // what active has dealt with
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: r, buf: make([]byte, 0, lineBuffer)}
}

// next blocks until a whole line is there and returns it without its line end
// ("\n" or "\r\n"). The line is valid until the next call, and the caller may
// write to it. A rest without line end is a line. Lines over maxLine are left
// out. After the last line the reader's error is returned, io.EOF at the end.
func (l *lineReader) next() ([]byte, error) {
	for {
		if line, whole := l.scan(); whole {
			if line != nil {
				return line, nil
			}
			continue // it was too long
		}
		if l.err != nil {
			if l.length == 0 {
				return nil, l.err
			}
			if line := l.cut(l.scanned); line != nil {
				return line, nil
			}
			continue
		}
		l.fill()
	}
}

// scan looks through what was read last. It returns whole if that ends a line.
func (l *lineReader) scan() (line []byte, whole bool) {
	end := len(l.buf)
	if i := bytes.IndexByte(l.buf[l.scanned:], '\n'); i >= 0 {
		end = l.scanned + i
		whole = true
	}
	l.length += end - l.scanned
	if l.active != nil {
		end = l.reduce(end)
	}
	l.scanned = end
	switch {
	case whole:
		line = l.cut(end)
		l.start++ // the line end
		l.scanned = l.start
		return line, true
	case l.length > maxLine:
		l.drop()
		l.buf = l.buf[:l.start]
		l.scanned = l.start
	case l.length > longLine && !l.asked && l.filter != nil:
		l.asked = true
		if l.active = l.filter(l.buf[l.start:end]); l.active != nil {
			l.scanned = l.reduce(end)
		}
	}
	return nil, false
}

// cut takes the line that ends at end; nil if it was too long.
func (l *lineReader) cut(end int) []byte {
	line := l.buf[l.start:end]
	tooLong := l.length > maxLine
	if tooLong {
		l.skipped++
		l.drop()
	}
	l.start = end
	l.length, l.asked, l.active, l.done = 0, false, nil, 0
	if tooLong {
		return nil
	}
	return trimCR(line)
}

// drop ends the filter of a line that is given up.
func (l *lineReader) drop() {
	if l.active != nil {
		l.active.skipped()
		l.active = nil
	}
}

// reduce runs the filter on the line, which ends at end, and returns its new
// end.
func (l *lineReader) reduce(end int) int {
	kept, done := l.active.run(l.buf[l.start:end], l.done)
	l.done = done
	kept += l.start
	l.buf = append(l.buf[:kept], l.buf[end:]...)
	return kept
}

// fill reads once, behind what is already there.
func (l *lineReader) fill() {
	rest := len(l.buf) - l.start
	switch {
	case rest < lineBuffer && cap(l.buf) > keepBuffer:
		l.buf = append(make([]byte, 0, lineBuffer), l.buf[l.start:]...)
	case l.start > 0:
		l.buf = l.buf[:copy(l.buf, l.buf[l.start:])]
	}
	l.scanned -= l.start
	l.start = 0
	if len(l.buf) == cap(l.buf) {
		l.buf = slices.Grow(l.buf, growth(len(l.buf)))
	}
	n, err := l.r.Read(l.buf[len(l.buf):cap(l.buf)])
	l.buf = l.buf[:len(l.buf)+n]
	l.err = err
}

// growth is by how much a full buffer grows: the memory of huge lines counts
// for more than the copying.
func growth(size int) int {
	if size < keepBuffer {
		return size
	}
	return size / 4
}

func trimCR(line []byte) []byte {
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// cleanLine removes what has been seen around a JSON object on stdout: space,
// a byte-order mark, and the label of a wrapper that merged two streams.
func cleanLine(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if rest, ok := bytes.CutPrefix(line, []byte("\ufeff")); ok {
		line = bytes.TrimSpace(rest)
	}
	const label = len("stdout")
	if len(line) <= label+1 || line[label] != ':' && line[label] != '=' {
		return line
	}
	if !bytes.EqualFold(line[:label], []byte("stdout")) && !bytes.EqualFold(line[:label], []byte("stderr")) {
		return line
	}
	if rest := bytes.TrimSpace(line[label+1:]); len(rest) > 0 && rest[0] == '{' {
		return rest
	}
	return line
}
