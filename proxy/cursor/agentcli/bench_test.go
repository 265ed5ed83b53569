package agentcli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// benchLine returns a line with a text of n bytes and some escapes.
func benchLine(n int) []byte {
	const text40 = "word and a line of code := f(x, \"y\", z)\n"
	text := strings.Repeat(text40, n/len(text40)+1)[:n]
	return fmt.Appendf(nil, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]},"session_id":"c2a7ddf0-3f0b-4d8a-9f5e-6a2f5f3f9d11","timestamp_ms":1790000000120}`, strconv.Quote(text))
}

// passThrough is what a program does at the least: find the text in the line
// and unescape it.
func passThrough(line []byte) string {
	const mark = `"text":"`
	i := bytes.Index(line, []byte(mark)) + len(mark)
	end := i
	for line[end] != '"' {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	return string(unescape(line[i:end]))
}

func BenchmarkPassThrough(b *testing.B) {
	benchSizes(b, func(line []byte) int { return len(passThrough(line)) })
}

// BenchmarkParseDelta is the whole way from a line to its event.
func BenchmarkParseDelta(b *testing.B) {
	n := 0
	emit := func(e event) bool { n += len(e.text); return true }
	p := newParser(redaction{})
	p.session = "s"
	benchSizes(b, func(line []byte) int {
		if p.tracker.text.all.size > 1<<20 {
			p.tracker = MixedDeltaTracker{}
		}
		p.line(line, emit)
		return n
	})
}

// BenchmarkScan is the key scan alone.
func BenchmarkScan(b *testing.B) {
	benchSizes(b, func(line []byte) int {
		h, ok := scanHot(line)
		if !ok {
			b.Fatal("not scanned")
		}
		return len(h.text)
	})
}

// BenchmarkDecodeDelta is what a line costs when the scan declines it.
func BenchmarkDecodeDelta(b *testing.B) {
	emit := func(event) bool { return true }
	p := newParser(redaction{})
	benchSizes(b, func(line []byte) int {
		if p.tracker.text.all.size > 1<<20 {
			p.tracker = MixedDeltaTracker{}
		}
		p.decode(line, emit)
		return 0
	})
}

func benchSizes(b *testing.B, f func(line []byte) int) {
	for _, size := range []int{8, 1 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			master := benchLine(size)
			line := make([]byte, len(master))
			b.ReportAllocs()
			for b.Loop() {
				f(line[:copy(line, master)])
			}
		})
	}
}

func BenchmarkLines(b *testing.B) {
	for _, size := range []int{8, 1 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			stream := bytes.Repeat(append(benchLine(size), '\n'), 1000)
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				l := newLineReader(bytes.NewReader(stream))
				for {
					if _, err := l.next(); err != nil {
						break
					}
				}
			}
		})
	}
}

func BenchmarkToolScannerProse(b *testing.B) {
	s := newToolScanner(nil, false)
	b.ReportAllocs()
	text := strings.Repeat("a < b and <b>bold</b> ", 4)
	for b.Loop() {
		s.feed(text, discardEvent)
	}
}

func discardEvent(chat.Event) bool { return true }
