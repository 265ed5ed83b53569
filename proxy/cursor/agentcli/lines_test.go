package agentcli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readLines(r io.Reader) (lines []string, skipped int, err error) {
	l := newLineReader(r)
	for {
		line, err := l.next()
		if err != nil {
			return lines, l.skipped, err
		}
		lines = append(lines, string(line))
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\r\nb\r\r\n\r\nc\r", []string{"a", "b\r", "", "c"}},
		{"a\n\n\nb", []string{"a", "", "", "b"}},
		{"ü\u2028x\x00\n", []string{"ü\u2028x\x00"}},
		{strings.Repeat("x", 3*lineBuffer) + "\ny\n", []string{strings.Repeat("x", 3*lineBuffer), "y"}},
	} {
		for _, size := range []int{1, 7, 4096, 1 << 20} {
			got, _, err := readLines(&chunkReader{b: []byte(c.in), size: size})
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%.20q, reads of %d bytes: %v %s", c.in, size, err, diff)
			}
		}
	}
}

func TestLinesReaderErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	got, _, err := readLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || !errors.Is(err, broken) {
		t.Errorf("got %v %s", err, diff)
	}
	got, _, err = readLines(iotest.DataErrReader(strings.NewReader("a\nb")))
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || !errors.Is(err, io.EOF) {
		t.Errorf("got %v %s", err, diff)
	}
}

func TestLinesCeiling(t *testing.T) {
	fits := bytes.Repeat([]byte("x"), maxLine)
	for _, c := range []struct {
		name    string
		long    []byte
		lines   int
		skipped int
	}{
		{"at the ceiling", fits, 3, 0},
		{"above", append(fits, 'x'), 2, 1},
	} {
		got, skipped, _ := readLines(io.MultiReader(strings.NewReader("a\n"), bytes.NewReader(c.long), strings.NewReader("\nb")))
		if len(got) != c.lines || skipped != c.skipped || got[len(got)-1] != "b" {
			t.Errorf("%s: %d lines, %d skipped", c.name, len(got), skipped)
		}
	}
	got, skipped, _ := readLines(io.MultiReader(strings.NewReader("a\n"), bytes.NewReader(append(fits, 'x'))))
	if len(got) != 1 || skipped != 1 {
		t.Errorf("without line end: %d lines, %d skipped", len(got), skipped)
	}
}

// TestLinesGiveMemoryBack: one huge line must not be paid for until the end of
// the run.
func TestLinesGiveMemoryBack(t *testing.T) {
	long := strings.Repeat("x", 8<<20)
	l := newLineReader(strings.NewReader(long + "\n" + strings.Repeat("short\n", 100000)))
	for {
		if _, err := l.next(); err != nil {
			break
		}
	}
	if cap(l.buf) > keepBuffer {
		t.Errorf("keeps %d bytes", cap(l.buf))
	}
}

func TestCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"  {}\t": "{}", "\ufeff{}": "{}", "\ufeff": "", " \ufeff": "",
		"stdout: {}": "{}", "STDERR={}": "{}", "Stdout:{\"a\":1}": `{"a":1}`,
		"stdout: x": "stdout: x", "stdout:": "stdout:", "stdoutx{}": "stdoutx{}", "stdins: {}": "stdins: {}",
	} {
		if got := string(cleanLine([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestLinesShortened: the strings of a line that is of little use are cut while
// it is read, whatever stands in them, and its memory is not needed.
func TestLinesShortened(t *testing.T) {
	for _, filler := range []string{"x", `\"`, `\\`, `\ud83d\ude00`, "漢", `\\\"`, "{", `\n`} {
		for _, size := range []int{7, 64 << 10} {
			big := strings.Repeat(filler, 2*longLine/len(filler))
			in := `{"a":"` + big + `","b":["` + big + `",{"c":"short"}],"usage":7}` + "\n{}\r\n" + big
			l := newLineReader(&chunkReader{b: []byte(in), size: size})
			l.filter = func(head []byte) lineFilter {
				if bytes.HasPrefix(head, []byte(`{"a"`)) {
					return new(shortener)
				}
				return nil
			}
			line, err := l.next()
			if err != nil || len(line) > longLine+size+lineBuffer+2*maxString {
				t.Fatalf("%d bytes, %v", len(line), err)
			}
			var f fields
			if err := json.Unmarshal(line, &f); err != nil || string(f["usage"]) != "7" {
				t.Fatalf("%s in reads of %d bytes: %v", filler, size, err)
			}
			if got := f.str("a"); len(got) < maxString/12 || len(got) > maxString {
				t.Errorf("%s: keeps %d bytes", filler, len(got))
			}
			if next, err := l.next(); string(next) != "{}" || err != nil {
				t.Errorf("next line %.20q, %v", next, err)
			}
			if rest, err := l.next(); string(rest) != big || err != nil {
				t.Errorf("last line has %d bytes, %v", len(rest), err)
			}
		}
	}
}

// FuzzShortener: valid JSON stays valid, and short strings stay as they are.
func FuzzShortener(f *testing.F) {
	f.Add(`{"a":"\u00e9\\","b":["\"x",1]}`, 3)
	f.Fuzz(func(t *testing.T, in string, size int) {
		size = 1 + max(size, -size, 0)%5000
		for _, pad := range []string{"", strings.Repeat("p", maxString-2)} {
			in := strings.ReplaceAll(in, `"`, `"`+pad)
			var s shortener
			var out []byte
			for b := []byte(in); len(b) > 0; {
				n := min(size, len(b))
				out = append(out, b[:s.shorten(b[:n])]...)
				b = b[n:]
			}
			if json.Valid([]byte(in)) && !json.Valid(out) {
				t.Fatalf("%q became %q", in, out)
			}
			if len(in) <= maxString && string(out) != in {
				t.Fatalf("%q became %q", in, out)
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\nb"), 3)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = 1 + max(size, -size, 0)%5000
		var want []string
		for line := range bytes.Lines(in) {
			want = append(want, string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))))
		}
		got, _, err := readLines(&chunkReader{b: in, size: size})
		if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, io.EOF) {
			t.Fatalf("%v %s", err, diff)
		}
	})
}
