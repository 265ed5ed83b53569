package agentcli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unfiltered parses whole lines, as if none had been long.
func unfiltered(lines []string) []event {
	var events []event
	p := newParser(redaction{})
	emit := func(e event) bool { events = append(events, e); return true }
	for _, line := range lines {
		p.line([]byte(line), emit)
	}
	p.end(exit{}, emit)
	return events
}

// TestLongRepetition: a long message means the same whether or not parts of it
// were taken out while it was read.
func TestLongRepetition(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < longLine+1<<13; i++ {
		fmt.Fprintf(&b, "%d \"ü\"\t漢\\字 😀\u2028<b>\x01\n", i)
	}
	said := b.String()
	first := said[:1000]
	half := strings.IndexByte(said[len(said)-500:], '\n') + len(said) - 500
	esc := strings.NewReplacer("ü", `\u00fc`, "😀", `\uD83D\uDE00`, "b", `\u0062`)
	odd := strings.Replace(whole(said), "}]}}", `},{"type":"text","text":"more"}]}}`, 1)
	for name, message := range map[string][]string{
		"equal":                    {whole(said)},
		"equal, other escapes":     {esc.Replace(whole(said))},
		"longer":                   {whole(said + "end \"1\"")},
		"longer by a lot":          {whole(said + said)},
		"shorter":                  {whole(said[:half])},
		"a rewrite":                {whole("x" + said)},
		"a late rewrite":           {whole(said[:half] + "x" + said[half:])},
		"a rewrite in a character": {whole(said[:half] + "é" + said[half+2:])},
		"before a tool":            {snap(said), started("k", `"args":{}`), delta("next"), whole("next")},
		"recap":                    {started("k", `"args":{}`), delta("next"), whole(said + "next")},
		"a delta":                  {delta(said)},
		"two blocks":               {odd},
		"broken":                   {whole(said)[:len(said)]},
		"invalid UTF-8":            {strings.Replace(whole(said), "ü", "\xfc", 1)},
		"invalid UTF-8 behind":     {strings.Replace(whole(said+"§"), "§", "\xbf", 1)},
		"half a pair":              {strings.Replace(whole(said), "😀", `\ud83d`, 1)},
		"half a pair behind":       {strings.Replace(whole(said+"§"), "§", `\ude00`, 1)},
		"cut escape":               {strings.Replace(whole(said+"§"), "§", `\ud83d\ude0`, 1)},
		"above the ceiling":        {whole(said + strings.Repeat("x", maxLine)), whole(said + "y")},
	} {
		t.Run(name, func(t *testing.T) {
			lines := append([]string{delta(first), delta(said[1000:])}, message...)
			lines = append(lines, delta("!"), result(""))
			expect := lines
			if name == "above the ceiling" {
				expect = append(lines[:2:2], lines[3:]...)
			}
			want := joined(canonical(unfiltered(expect)))
			for _, size := range []int{997, 1 << 20} {
				got := joined(canonical(replay(t, &chunkReader{b: []byte(strings.Join(lines, "\n")), size: size}, exit{})))
				if !cmp.Equal(want, got) {
					t.Fatalf("reads of %d bytes: %.3000s", size, cmp.Diff(want, got))
				}
			}
		})
	}
}

// TestLongAnswerNeedsLittleMemory: a closing message and a result that repeat
// an answer of megabytes are never held.
func TestLongAnswerNeedsLittleMemory(t *testing.T) {
	said := strings.Repeat("a line of \"text\"\n", 100_000)
	stream := strings.Join([]string{delta(said[:100]), delta(said[100:200]), delta(said[200:]), whole(said), result(said)}, "\n")
	p := newParser(redaction{})
	l := newLineReader(bytes.NewReader([]byte(stream)))
	l.filter = p.filter
	n, most := 0, 0
	for i := 0; ; i++ {
		line, err := l.next()
		if err != nil {
			t.Fatal(err)
		}
		if i > 2 {
			most = max(most, cap(l.buf))
		}
		if !p.line(line, func(e event) bool { n += len(e.text); return true }) {
			break
		}
	}
	if n != len(said) || most > keepBuffer {
		t.Errorf("%d bytes of text out of %d, a buffer of %d", n, len(said), most)
	}
}

// FuzzRepetition compares filtered and whole lines.
func FuzzRepetition(f *testing.F) {
	f.Add("abc", "abcd", 3)
	f.Add("üa", "\xc3", 1)
	f.Add("ü\"\\ü", `ü\"\\\u00fc\ud83d\ude00`, 1)
	f.Fuzz(func(t *testing.T, text, body string, size int) {
		size = 1 + max(size, -size, 0)%100
		first := delta("")
		text = strings.ToValidUTF8(text, "?")
		line := strings.TrimSuffix(whole(""), `"}]}}`) + strings.ReplaceAll(body, "\n", " ") + `"}]}}`
		want := unfiltered([]string{first, delta(text), line, result("r")})

		var got []event
		p := newParser(redaction{})
		emit := func(e event) bool { got = append(got, e); return true }
		p.line([]byte(first), emit)
		p.line([]byte(delta(text)), emit)
		if active := p.filter([]byte(line)); active != nil {
			kept, done := []byte(nil), 0
			n := len(p.shapes.assistant().head)
			for rest := line; rest != ""; n = size {
				n = min(n, len(rest))
				kept = append(kept, rest[:n]...)
				rest = rest[n:]
				k, d := active.run(kept, done)
				kept, done = kept[:k], d
			}
			line = string(kept)
		}
		p.line([]byte(line), emit)
		p.line([]byte(result("r")), emit)
		p.end(exit{}, emit)
		if diff := cmp.Diff(joined(canonical(want)), joined(canonical(got))); diff != "" {
			t.Fatal(diff)
		}
	})
}
