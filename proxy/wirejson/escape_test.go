package wirejson

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"plain text, longer than eight bytes", "plain text, longer than eight bytes"},
		{`a"b\c`, `a\"b\\c`},
		{"12345678\n", `12345678\n`},
		{"\n\t\r\x00\x1f\x7f", `\n\t\r\u0000\u001f` + "\x7f"},
		{"<a href='x'>&</a>", "<a href='x'>&</a>"},
		{"日本語 😀 é", "日本語 😀 é"},
		{"a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"\xff|\xe6\x97|\xed\xa0\x80", `\ufffd|\ufffd\ufffd|\ufffd\ufffd\ufffd`},
		{"\ufffd", "\ufffd"},
	}
	for _, tt := range tests {
		if got := string(AppendEscaped(nil, tt.in)); got != tt.want {
			t.Errorf("escape of %q is %s, want %s", tt.in, got, tt.want)
		}
	}
}

// Every byte at every place of a block of eight takes the right way.
func TestEscapeEveryByteAtEveryPlace(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			checkEscape(t, strings.Repeat("x", at)+string([]byte{byte(c)})+strings.Repeat("y", 16-at))
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a\"b", "\xff\xfe", "日本語", "\u2028", strings.Repeat("ab\\\n", 9)} {
		f.Add(s)
	}
	f.Fuzz(checkEscape)
}

func checkEscape(t *testing.T, s string) {
	quoted := AppendString(nil, s)
	var got string
	if err := json.Unmarshal(quoted, &got); err != nil {
		t.Fatalf("%q became %s: %v", s, quoted, err)
	}
	reference, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var want string // what encoding/json makes of bytes that are not UTF-8
	if err := json.Unmarshal(reference, &want); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("%q came back as %q, want %q", s, got, want)
	}
	for _, c := range string(quoted) {
		if c < ' ' || c == '\u2028' || c == '\u2029' {
			t.Fatalf("%q became %q, which breaks lines", s, quoted)
		}
	}
}
