package tray

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the longest title: the widest row sets the width of the menu.
const maxTitle = 60

// clip makes a title of any text: one line, no control characters, no
// pictures that fonts lack, not too long.
func clip(s string) string { return shorten(s, maxTitle) }

// shorten is clip for at most n characters.
func shorten(s string, n int) string {
	s = plain(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return strings.TrimRight(string(runes[:max(0, n-3)]), " ") + "..."
}

// plain keeps what every font and every host shows as it is. A tab splits a
// label on Windows, a line break is a box there, and emoji are boxes wherever
// their font is missing.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, r >= 0x1f000, r == 0x200d, r >= 0xfe00 && r <= 0xfe0f,
			unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// wrap breaks text into at most n lines of a title's length; what is left
// over is cut with dots.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	words := strings.Fields(plain(s))
	for i, word := range words {
		longer := strings.TrimPrefix(line+" "+word, " ")
		switch {
		case line == "" || utf8.RuneCountInString(longer) <= maxTitle:
			line = longer
		case len(lines) == n-1: // the last line takes all and is cut
			return append(lines, clip(line+" "+strings.Join(words[i:], " ")))
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// sentence starts s with a capital, as menus do and error texts do not, unless
// it starts with the name of a program or a setting.
func sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if strings.ContainsFunc(strings.TrimRight(first, ",.:;"), func(r rune) bool { return !unicode.IsLetter(r) }) {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
