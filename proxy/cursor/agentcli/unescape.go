package agentcli

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape resolves the escapes of a checked string in place, which never
// needs more room, and returns the shortened body. Half a surrogate pair
// becomes U+FFFD as in encoding/json.
func unescape(b []byte) []byte {
	i := max(bytes.IndexByte(b, '\\'), 0)
	w := i
	for i < len(b) {
		if n := plainRun(b, w, i); n > 0 {
			w, i = w+n, i+n
			continue
		}
		if b[i+1] != 'u' {
			b[w] = unescaped(b[i+1])
			w, i = w+1, i+2
			continue
		}
		r, n := unicodeEscape(b[i:])
		w += utf8.EncodeRune(b[w:i+n], r)
		i += n
	}
	return b[:w]
}

// plainRun moves the bytes from i on, up to the next backslash, down to w and
// returns how many they were. Runs are short in real text, so this goes by
// eight bytes and calls nothing.
func plainRun(b []byte, w, i int) (n int) {
	for i+n+8 <= len(b) {
		word := binary.LittleEndian.Uint64(b[i+n:])
		slash := word ^ ('\\' * ones)
		if (slash-ones)&^slash&tops != 0 {
			break
		}
		binary.LittleEndian.PutUint64(b[w+n:], word)
		n += 8
	}
	for i+n < len(b) && b[i+n] != '\\' {
		b[w+n] = b[i+n]
		n++
	}
	return n
}

// unicodeEscape reads one \u escape, or two that are a surrogate pair.
func unicodeEscape(b []byte) (r rune, n int) {
	r, _ = hex4(b[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		low, _ := hex4(b[8:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
