package agentcli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const (
	deltaLine    = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"An oak\n"}]},"session_id":"s1","timestamp_ms":1790000000120}`
	thinkingLine = `{"type":"thinking","subtype":"delta","text":"Any \"tree\".","session_id":"s1","timestamp_ms":1790000000100}`

	snapshotLine  = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"An oak."}]},"session_id":"s1"}`
	reorderedLine = `{"timestamp_ms":1,"session_id":"s1","message":{"content":[{"text":"order","type":"text"}]},"type":"assistant"}`
	spacedLine    = ` { "type" : "assistant" , "message" : { "content" : [ { "type" : "text" , "text" : "space" } ] } , "timestamp_ms" : 7 } `
)

// oddLines are lines near the border of what the key scan understands.
var oddLines = []string{
	deltaLine,
	thinkingLine,
	strings.Replace(deltaLine, "An oak", "\xc3(", 1),
	strings.Replace(deltaLine, "1790000000120", "0790", 1),
	strings.Replace(deltaLine, "1790000000120", "12e3", 1),
	strings.Replace(deltaLine, "1790000000120", `12,"model_call_id":"m"`, 1),
	strings.Replace(deltaLine, "1790000000120", `12,"timestamp_ms":null`, 1),
	strings.Replace(deltaLine, "An oak", `a"},{"type":"text","text":"b`, 1),
	deltaLine + " ",
	deltaLine + "}",
	`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"An oak"}]},"session_id":"s1","model_call_id":"m-0","timestamp_ms":1790000000130}`,
	snapshotLine,
	reorderedLine,
	spacedLine,
	`{"type":"assistant","type":"user","message":{"content":[{"type":"text","text":"twice"}]}}`,
	`{"type":"thinking","text":"a","text":"b","timestamp_ms":1}`,
	`{"type":"thinking","text":"a","timestamp_ms":1,"timestamp_ms":null}`,
	`{"type":"thinking","text":"a","timestamp_ms":"1790"}`,
	`{"type":"thinking","text":"a","timestamp_ms":""}`,
	`{"type":"thinking","text":"a","timestamp_ms":1.5e3}`,
	`{"type":"thinking","text":"a","timestamp_ms":-1}`,
	`{"type":"thinking","text":"a","timestamp_ms":01}`,
	`{"type":"thinking","text":"a","timestamp_ms":0}`,
	`{"type":"thinking","text":"a","timestamp_ms":1,"model_call_id":""}`,
	`{"type":"thinking","text":"a","timestamp_ms":1,"model_call_id":null}`,
	`{"type":"thinking","text":"a","timestamp_ms":1,"model_call_id":"m"}`,
	`{"type":"thinking","text":"a","timestamp_ms":1,"model_call_id":7}`,
	`{"type":"thinking","text":"a","timestamp_ms":1,"extra":{"text":"nested","type":"assistant"}}`,
	`{"type":"thinking","text":"a","timestamp_ms":1,"extra":[1,2],"on":true,"off":false,"no":null}`,
	`{"type":"thinking","subtype":"completed","text":"all of it","timestamp_ms":1}`,
	`{"type":"thinking","subtype":"completed","timestamp_ms":1}`,
	`{"type":"thinking","message":{"content":[{"type":"text","text":"not here"}]}}`,
	`{"type":"assistant","text":"not here"}`,
	`{"type":"assistant","message":{"content":"plain"}}`,
	`{"type":"assistant","message":{"content":[]}}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"timestamp_ms":1}`,
	`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"b"}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"thinking","text":"t"}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"image","text":"no"}]}}`,
	`{"type":"assistant","message":{"content":[{"text":"no type"}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":7}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}],"content":[]}}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]},"message":null}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]},"text":"b"}`,
	`{"type":"thinking","text":"\u00fc\ud83d\ude00 \ud83d \ude00 \ud83dx \ud83d\u0041 \u0000","timestamp_ms":1}`,
	`{"type":"thinking","text":"\b\f\n\r\t\/\\\"","timestamp_ms":1}`,
	`{"type":"thinking","text":"\x","timestamp_ms":1}`,
	`{"type":"thinking","text":"\u12g4","timestamp_ms":1}`,
	"{\"type\":\"thinking\",\"text\":\"raw\ttab\",\"timestamp_ms\":1}",
	"{\"type\":\"thinking\",\"text\":\"bad \xff\xfe utf8\",\"timestamp_ms\":1}",
	"{\"type\":\"thinking\",\"text\":\"sur \xed\xa0\x80\",\"timestamp_ms\":1}",
	"{\"type\":\"thinking\",\"text\":\"ok\",\"session_id\":\"\xff\",\"timestamp_ms\":1}",
	`{"type":"thinking","text":"Grüße 世界 👩‍💻","timestamp_ms":1}`,
	`{"t\u0079pe":"thinking","text":"a","timestamp_ms":1}`,
	`{"TYPE":"thinking","text":"a","timestamp_ms":1}`,
	`{"type":"thinking","text":"a","timestamp_ms":1}x`,
	`{"type":"thinking","text":"a","timestamp_ms":1,}`,
	`{"type":"thinking","text":"a","timestamp_ms":1`,
	`{"type":"thinking","text":"a" "timestamp_ms":1}`,
	`{"type":"thinking","text":"a","timestamp_ms":truex}`,
	`{}`, `[]`, `null`, `"x"`, ``, `{`, `{"type":`, `{"type":"thinking"}`,
}

// checkSameAsDecoded compares the key scan with full decoding, for parsers that
// have seen nothing, and for those that know the usual shapes of lines.
func checkSameAsDecoded(t *testing.T, line []byte) {
	t.Helper()
	for _, before := range [][]string{nil, {deltaLine, thinkingLine}} {
		var fast, slow []event
		f, s := newParser(redaction{}), newParser(redaction{})
		lines := append(before, string(line), string(line), deltaLine, string(line), thinkingLine)
		for _, l := range lines {
			f.line([]byte(l), func(e event) bool { fast = append(fast, e); return true })
			if !s.over {
				s.decode([]byte(l), func(e event) bool { slow = append(slow, e); return true })
			}
		}
		if f.spoke != s.spoke || f.session != s.session || f.over != s.over {
			t.Fatalf("line %q: state differs", line)
		}
		if diff := cmp.Diff(canonical(slow), canonical(fast)); diff != "" {
			t.Fatalf("line %q (-decoded +scanned):\n%s", line, diff)
		}
		for _, e := range fast {
			if !utf8.ValidString(e.text) {
				t.Fatalf("line %q gives invalid UTF-8", line)
			}
		}
	}
}

func TestScanEqualsDecoding(t *testing.T) {
	for _, line := range oddLines {
		checkSameAsDecoded(t, []byte(line))
	}
}

// TestScanTakesHotLines makes sure that the key scan is not bypassed.
func TestScanTakesHotLines(t *testing.T) {
	for _, line := range []string{deltaLine, thinkingLine, deltaLine + " ", snapshotLine, reorderedLine, spacedLine} {
		if _, ok := scanHot([]byte(line)); !ok {
			t.Errorf("not scanned: %s", line)
		}
	}
	hot, ok := scanHot([]byte(thinkingLine))
	if !ok || !hot.thinking || !hot.delta || !hot.escaped || string(unescape(hot.text)) != `Any "tree".` {
		t.Errorf("got %+v, %v", hot, ok)
	}
}

// TestScanLengths puts the characters that end a word-wise scan at every
// offset of a word.
func TestScanLengths(t *testing.T) {
	for n := range 40 {
		pad := bytes.Repeat([]byte("x"), n)
		for _, mark := range []string{"", `\n`, `\"`, `\\`, "é", "\x1f", "\x7f", " ", "!", "#", "\x80", `\u00e9`} {
			checkSameAsDecoded(t, fmt.Appendf(nil, `{"type":"thinking","text":"%s%s%s","timestamp_ms":1}`, pad, mark, pad))
		}
	}
}

func FuzzScanEqualsDecoding(f *testing.F) {
	for _, line := range oddLines {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') < 0 {
			checkSameAsDecoded(t, line)
		}
	})
}

// FuzzScanText compares the two for texts that are always well placed.
func FuzzScanText(f *testing.F) {
	f.Add("a\x00\n\"\\ü\u2028<😀", `\ud83d`)
	f.Fuzz(func(t *testing.T, text, rawText string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		checkSameAsDecoded(t, fmt.Appendf(nil, `{"type":"thinking","text":%s,"timestamp_ms":1}`, quoted))
		checkSameAsDecoded(t, fmt.Appendf(nil, `{"type":"thinking","text":"%s","timestamp_ms":1}`, rawText))
	})
}
