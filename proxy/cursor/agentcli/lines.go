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
	keepBuffer = 1 << 20  // a buffer beyond this is given up after its long line
)

// lineReader cuts a byte stream into lines at '\n'. Reads may end anywhere,
// also inside a character. It belongs to one goroutine.
type lineReader struct {
	r       io.Reader
	buf     []byte // buf[start:] was read and not handed out
	start   int
	scanned int // buf[start:scanned] holds no '\n'
	err     error
	skipped int // lines over maxLine
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: r, buf: make([]byte, 0, lineBuffer)}
}

// next blocks until a whole line is there and returns it without its line end
// ("\n" or "\r\n"). The line is valid until the next call, and the caller may
// write to it. A rest without line end is a line. Lines over maxLine are left
// out. After the last line the reader's error is returned, io.EOF at the end.
func (l *lineReader) next() ([]byte, error) {
	skipping := false
	for {
		if i := bytes.IndexByte(l.buf[l.scanned:], '\n'); i >= 0 {
			line := l.buf[l.start : l.scanned+i]
			l.start = l.scanned + i + 1
			l.scanned = l.start
			if skipping || len(line) > maxLine {
				l.skipped++
				skipping = false
				continue
			}
			return trimCR(line), nil
		}
		l.scanned = len(l.buf)
		if skipping || len(l.buf)-l.start > maxLine {
			skipping = true
			l.start, l.scanned, l.buf = 0, 0, l.buf[:0]
		}
		if l.err != nil {
			return l.last(skipping)
		}
		l.fill()
	}
}

// last returns what came after the last line end.
func (l *lineReader) last(skipping bool) ([]byte, error) {
	line := l.buf[l.start:]
	l.start = len(l.buf)
	if skipping {
		l.skipped++
		return nil, l.err
	}
	if len(line) == 0 {
		return nil, l.err
	}
	return trimCR(line), nil
}

// fill reads once, behind what is already there.
func (l *lineReader) fill() {
	rest := len(l.buf) - l.start
	switch {
	case rest < lineBuffer && cap(l.buf) > keepBuffer:
		l.buf = append(make([]byte, 0, lineBuffer), l.buf[l.start:]...)
		l.scanned -= l.start
		l.start = 0
	case l.start > 0:
		l.buf = l.buf[:copy(l.buf, l.buf[l.start:])]
		l.scanned -= l.start
		l.start = 0
	}
	if len(l.buf) == cap(l.buf) {
		l.buf = slices.Grow(l.buf, len(l.buf)/2+1)
	}
	n, err := l.r.Read(l.buf[len(l.buf):cap(l.buf)])
	l.buf = l.buf[:len(l.buf)+n]
	l.err = err
}

func trimCR(line []byte) []byte {
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// cleanLine removes what has been seen around a JSON object on stdout: space,
// a byte-order mark, and the label of a wrapper that merged two streams.
func cleanLine(line []byte) []byte {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
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
