package cursorsim

import (
	"encoding/json"
	"strings"
	"unicode"
)

// maxLine is how much of a result's line is repeated, in characters.
const maxLine = 300

// Clients wrap a file's lines for the model; these forms were seen in 2026:
// "1: text" and "<content>" (OpenCode), "00001| text" and "<file>" (older
// OpenCode), "     1→text" and "1<tab>text" (Claude Code), "Output:" after
// lines about the process (Codex), code fences, and JSON with the text in one
// field.
var (
	numberedLine = lazy(`^\s*\d+(?:: ?|\| ?|→|\t)(.*)$`)
	numberedOne  = lazy(`^\s*0*1(?:: ?|\| ?|→|\t)(.*)$`)
	wrapperLine  = lazy(`^(?:</?[a-z_]+(?: [^>]*)?>|<([a-z_]+)>[^<]*</([a-z_]+)>|` + "```.*" + `|Contents? of .*:|Output:|File: .*|\[File: .*\])$`)
)

// firstLine returns the first line of the content that a tool result wraps, ""
// if there is none.
func firstLine(result string) string {
	lines := strings.Split(strings.ReplaceAll(unwrapJSON(result), "\r\n", "\n"), "\n")
	for _, line := range lines {
		if m := numberedOne().FindStringSubmatch(line); m != nil {
			return cleanLine(m[1])
		}
	}
	for _, line := range lines[contentStart(lines):] {
		if line = strings.TrimSpace(line); line != "" && !wrapperLine().MatchString(line) {
			return cleanLine(line)
		}
	}
	return ""
}

// contentStart is the index of the line after the mark that says where the
// content begins, 0 without one.
func contentStart(lines []string) int {
	for i, line := range lines {
		switch strings.TrimSpace(line) {
		case "<content>", "<file>", "<output>", "Output:":
			return i + 1
		}
	}
	return 0
}

// unwrapJSON returns the text inside a JSON result, and any other result as it
// is.
func unwrapJSON(result string) string {
	trimmed := strings.TrimSpace(result)
	if !strings.HasPrefix(trimmed, "{") {
		return result
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(trimmed), &object) != nil {
		return result
	}
	for _, key := range []string{"output", "content", "text", "stdout", "result"} {
		var text string
		if json.Unmarshal(object[key], &text) == nil && text != "" {
			return text
		}
	}
	return result
}

// cleanLine makes a line fit to be shown in the middle of an answer.
func cleanLine(line string) string {
	line = strings.ToValidUTF8(line, "�")
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, line)
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > maxLine {
		line = string(runes[:maxLine]) + "…"
	}
	return line
}
