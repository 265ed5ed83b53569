package cursorsim

import (
	"slices"
	"strconv"
	"strings"
)

func number(n int) string { return strconv.Itoa(n) }

// call makes the call that does an action, by the tool whose name and schema
// fit best, else by a command of the shell. An edit looks into the results so
// far for the whole line that it changes.
func (a action) call(tools []Tool, results []string) (Call, bool) {
	switch a.kind {
	case reading:
		if tool, ok := bestTool(tools, readerScore); ok {
			return Call{tool.Name, fill(tool.Schema, pathHint(a.path))}, true
		}
		return shellCall(tools, shellLine{
			unix:    "head -n 1 " + unixQuote(a.path),
			windows: "Get-Content -TotalCount 1 -LiteralPath " + windowsQuote(a.path),
			about:   "Print the first line of the file",
		})
	case editing:
		if call, ok := a.edit(tools, results); ok {
			return call, true
		}
		return shellCall(tools, shellLine{
			unix: "sed " + unixQuote("s/"+sedPattern(a.old)+"/"+sedReplacement(a.new)+"/") + " " + unixQuote(a.path) + " > " + unixQuote(a.path+".new") +
				" && mv " + unixQuote(a.path+".new") + " " + unixQuote(a.path),
			windows: "(Get-Content -Raw -LiteralPath " + windowsQuote(a.path) + ").Replace(" + windowsQuote(a.old) + ", " + windowsQuote(a.new) +
				") | Set-Content -NoNewline -LiteralPath " + windowsQuote(a.path),
			about: "Change the file",
		})
	case writing:
		if tool, ok := bestTool(tools, a.writerScore); ok {
			return Call{tool.Name, fill(tool.Schema, pathHint(a.path), textHint(contentWords, a.new+"\n"))}, true
		}
		return shellCall(tools, shellLine{
			unix:    "printf '%s\\n' " + unixQuote(a.new) + " > " + unixQuote(a.path),
			windows: "Set-Content -LiteralPath " + windowsQuote(a.path) + " -Value " + windowsQuote(a.new),
			about:   "Write the file",
		})
	}
	return shellCall(tools, shellLine{unix: a.command, windows: a.command, about: "Run the command of the task"})
}

// edit finds the tool that changes a part of a file: one that takes the old and
// the new text, alone or in a list of changes, or one that takes a patch.
func (a action) edit(tools []Tool, results []string) (Call, bool) {
	if tool, ok := bestTool(tools, a.editorScore); ok {
		return Call{tool.Name, fill(tool.Schema, a.editHints()...)}, true
	}
	if tool, ok := bestTool(tools, patcherScore); ok {
		return Call{tool.Name, fill(tool.Schema, textHint(patchWords, a.patch(results)))}, true
	}
	if tool, ok := bestTool(tools, a.blockScore); ok {
		return Call{tool.Name, fill(tool.Schema, pathHint(a.path), textHint(diffWords, a.blocks()))}, true
	}
	return Call{}, false
}

func (a action) editHints() []hint {
	return []hint{pathHint(a.path), textHint(oldWords, a.old), textHint(newWords, a.new), replaceCommand}
}

// The words of the names of properties that take these texts.
var (
	oldWords     = wordList{"old", "search", "find", "before", "original"}
	newWords     = wordList{"new", "replace", "replacement", "after", "updated"}
	contentWords = wordList{"content", "contents", "text", "data", "body"}
	patchWords   = wordList{"patch", "input", "diff"}
	diffWords    = wordList{"diff"}
)

type wordList []string

// textHint gives a text to the property whose name has one of the words, best
// the first of them.
func textHint(list wordList, text string) hint {
	return func(name string, p property) (any, int) {
		if !p.is("string") && !p.open() || p.limited() {
			return nil, 0
		}
		named := words(name)
		for i, word := range list {
			if slices.Contains(named, word) || slices.Contains(named, word+"str") || slices.Contains(named, word+"string") {
				return text, len(list) - i + 1
			}
		}
		return nil, 0
	}
}

// replaceCommand is for tools with several commands, of which one replaces.
func replaceCommand(name string, p property) (any, int) {
	list, _ := p.schema["enum"].([]any)
	for _, entry := range list {
		if text, ok := entry.(string); ok && (text == "str_replace" || text == "replace" || text == "edit") && name == "command" {
			return text, 1
		}
	}
	return nil, 0
}

// editorScore is above 0 for tools that take a path, the old text and the new
// one: edit, Edit, str_replace, replace, search_replace, MultiEdit and so on.
func (a action) editorScore(tool Tool) int {
	if !named(tool.Name, []string{"edit", "replace", "editor", "update", "modify", "change"},
		[]string{"file", "files", "str", "string", "text", "multi", "search", "find", "and", "in", "single", "based", "tool", "block"}) {
		return 0
	}
	if _, placed := fillAll(tool.Schema, a.editHints()...); placed < 3 {
		return 0
	}
	if slices.Contains(words(tool.Name), "multi") || strings.Contains(strings.ToLower(tool.Name), "multi") {
		return 1
	}
	return 2
}

// patcherScore is above 0 for tools that take a patch in the form of
// apply_patch.
func patcherScore(tool Tool) int {
	if !named(tool.Name, []string{"patch"}, []string{"apply", "file", "files", "tool"}) {
		return 0
	}
	_, placed := fillAll(tool.Schema, textHint(patchWords, ""))
	return placed
}

// blockScore is above 0 for tools that take blocks of old and new text.
func (a action) blockScore(tool Tool) int {
	if !named(tool.Name, []string{"replace", "edit"}, []string{"in", "file", "tool"}) {
		return 0
	}
	if _, placed := fillAll(tool.Schema, pathHint(a.path), textHint(diffWords, "")); placed == 2 {
		return 1
	}
	return 0
}

// writerScore is above 0 for tools that take a path and the whole content.
func (a action) writerScore(tool Tool) int {
	if !named(tool.Name, []string{"write", "create", "save"}, []string{"file", "to", "new", "text", "content", "contents", "tool"}) {
		return 0
	}
	if _, placed := fillAll(tool.Schema, pathHint(a.path), textHint(contentWords, a.new)); placed == 2 {
		return 1
	}
	return 0
}

// named tells whether one of the words of a name is a verb and all others are
// known to change nothing in its meaning.
func named(name string, verbs, others []string) bool {
	found := false
	for _, word := range words(name) {
		switch {
		case slices.Contains(verbs, word):
			found = true
		case !slices.Contains(others, word):
			return false
		}
	}
	return found
}

// patch is the change in the form of apply_patch, which wants whole lines.
func (a action) patch(results []string) string {
	before := a.wholeLine(results)
	after := strings.Replace(before, a.old, a.new, 1)
	return "*** Begin Patch\n*** Update File: " + a.path + "\n@@\n-" + before + "\n+" + after + "\n*** End Patch"
}

// blocks is the change in the form of Cline.
func (a action) blocks() string {
	return "------- SEARCH\n" + a.old + "\n=======\n" + a.new + "\n+++++++ REPLACE"
}

// wholeLine returns the line of the results that holds the old text, without
// the number that clients put before it.
func (a action) wholeLine(results []string) string {
	for _, result := range results {
		for line := range strings.SplitSeq(unwrapJSON(result), "\n") {
			if strings.Contains(line, a.old) {
				line = strings.TrimSuffix(line, "\r")
				if m := numberedLine().FindStringSubmatch(line); m != nil && strings.Contains(m[1], a.old) {
					return m[1]
				}
				return line
			}
		}
	}
	return a.old
}

// shellLine is a command in the two languages of shells.
type shellLine struct{ unix, windows, about string }

func shellCall(tools []Tool, line shellLine) (Call, bool) {
	tool, ok := bestTool(tools, shellScore)
	if !ok {
		return Call{}, false
	}
	return Call{tool.Name, fill(tool.Schema, commandHint(tool.Name, line))}, true
}

func unixQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func windowsQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func sedPattern(text string) string {
	return escape(text, `\/.*[]^$`)
}

func sedReplacement(text string) string { return escape(text, `\/&`) }

func escape(text, special string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
