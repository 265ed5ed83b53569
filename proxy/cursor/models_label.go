package cursor

import (
	"html"
	"strings"
	"unicode"
)

// htmlTag matches tags and comments; "<5B" is neither.
var htmlTag = pattern(`(?s)<!--.*?-->|</?[A-Za-z][^<>]*>`)

// maxLabel is in runes; labels are titles of menu items.
const maxLabel = 120

// cleanLabel turns a name from an answer into plain text: Cursor puts HTML into
// names, and zero-width characters behind them.
func cleanLabel(s string) string {
	s = html.UnescapeString(htmlTag().ReplaceAllString(s, ""))
	s = htmlTag().ReplaceAllString(s, "") // tags that were written as entities
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("()<>&\"'`“”‘’", r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxLabel {
		s = strings.TrimSpace(string(runes[:maxLabel]))
	}
	return s
}

// labelled is a model among those that a user sees together.
type labelled struct {
	label    *string
	thinking bool
}

// tagThinking tells apart models of one label of which only some think.
func tagThinking(models []labelled) {
	kinds := map[string][2]int{} // label -> how many do not think, how many do
	for _, m := range models {
		n := kinds[*m.label]
		n[index(m.thinking)]++
		kinds[*m.label] = n
	}
	for _, m := range models {
		if n := kinds[*m.label]; m.thinking && n[0] > 0 && n[1] > 0 {
			*m.label += " Thinking"
		}
	}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}
