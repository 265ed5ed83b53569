package wirejson

import "unicode/utf8"

// AppendString appends s as a JSON string.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, s)
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// AppendEscaped appends s as the inside of a JSON string. Bytes that are not
// UTF-8 become U+FFFD each. U+2028 and U+2029 are escaped because some readers
// split lines at them.
func AppendEscaped(dst []byte, s string) []byte {
	start := 0 // what is before it has been appended
	for i := 0; i < len(s); {
		for i+8 <= len(s) && plain8(s, i) {
			i += 8
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(dst, s[start:]...)
}

// plain8 tells whether the eight bytes at i are ASCII that needs no escape.
func plain8(s string, i int) bool {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	_ = s[i+7] // one bounds check; the loads below become one
	w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
	// (x - n*ones) &^ x has a top bit set if some byte of x is below n, for n
	// up to 128; a byte that equals c is 0 in w ^ c*ones.
	quote, backslash := w^'"'*ones, w^'\\'*ones
	special := (w-' '*ones)&^w | (quote-ones)&^quote | (backslash-ones)&^backslash | w
	return special&tops == 0
}

// appendEscape appends the escape of an ASCII character that needs one.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
