package cursorsim

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

var (
	// A path may stand in quotes, then with spaces, or bare. Bare relative
	// paths need an extension, or every word would be one.
	quotedPath = `"(?:/|[A-Za-z]:[\\/])[^"\n]+"|'(?:/|[A-Za-z]:[\\/])[^'\n]+'|` + "`[^`\\s][^`\\n]*[./\\\\][^`\\n]*`"
	barePath   = "(?:/|[A-Za-z]:[\\\\/]|~/|\\.{1,2}/)[^\\s\"'`<>()|;,*?]+" +
		`|[\p{L}\p{N}_-]+(?:[./\\][\p{L}\p{N}_.-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}\b`
	pathPattern = `(` + quotedPath + `|` + barePath + `)`

	readingWord = `(?i:\b(?:read|open|show|print|display|view|cat|look|check|inspect|explain|describe|summari[sz]e|tell|what|contents? of|lines? of|in)\b)`

	// The path that the reading word speaks of is nearer to it than any other
	// that a client wraps around the prompt.
	pathAfterWord = lazy(readingWord + "[^\\n.`\"'/]{0,60}?" + `(?:^|[\s(@])` + pathPattern)
	anyPath       = lazy(`(?:^|[\s(@"'])` + pathPattern)
	anyReading    = lazy(readingWord)

	// What Claude Code puts beside the words of the person names files that
	// nobody asked for.
	clientNote = lazy(`(?s)<system-reminder>.*?</system-reminder>`)
)

// lazy compiles at first use: the program holds this package also when it does
// not simulate, and then should not start later for it.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// findPath returns the file that prompt asks to read, "" if there is none.
func findPath(prompt string) string {
	if m := pathAfterWord().FindStringSubmatch(prompt); m != nil {
		return cleanPath(m[1])
	}
	if !anyReading().MatchString(prompt) {
		return ""
	}
	if m := anyPath().FindStringSubmatch(prompt); m != nil {
		return cleanPath(m[1])
	}
	return ""
}

// cleanPath takes off quotes and the punctuation of the sentence around.
func cleanPath(path string) string {
	path = strings.Trim(path, "\"'`")
	path = strings.TrimRight(path, ".:;!?")
	if strings.IndexFunc(path, unicode.IsControl) >= 0 || !strings.ContainsFunc(path, isWordRune) {
		return ""
	}
	return path
}

// words cuts a name such as mcp__files__readTextFile into small words: only
// the part after the last separator of name spaces counts.
func words(name string) []string {
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	var list []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	small := false
	for _, r := range name {
		if !isWordRune(r) || unicode.IsUpper(r) && small {
			flush()
		}
		if isWordRune(r) {
			word = append(word, r)
		}
		small = unicode.IsLower(r)
	}
	flush()
	return list
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
