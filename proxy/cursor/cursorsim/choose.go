package cursorsim

import (
	"slices"
	"strings"
)

// bestTool returns the first tool with the highest score above 0.
func bestTool(tools []Tool, score func(Tool) int) (Tool, bool) {
	var best Tool
	top := 0
	for _, tool := range tools {
		if s := score(tool); s > top {
			best, top = tool, s
		}
	}
	return best, top > 0
}

// readerScore is above 0 for tools that read a text file: read, Read,
// read_file, view, fs_read and the like. A foreign word such as "image" or
// "resource" or "write" in the name means that it does something else.
func readerScore(tool Tool) int {
	verb, file := 0, 0
	for _, word := range words(tool.Name) {
		switch word {
		case "read", "readfile":
			verb = 4
		case "view", "open", "cat", "get", "show", "load":
			verb = max(verb, 2)
		case "file", "files", "filesystem", "fs", "text", "content", "contents":
			file = 1
		case "tool":
		default:
			return 0
		}
	}
	if verb == 2 && file == 0 && !slices.Contains([]string{"view", "cat"}, strings.ToLower(tool.Name)) {
		return 0 // get, open or show what?
	}
	if verb == 0 {
		return 0
	}
	return verb + file
}

// shellScore is above 0 for tools that run a command line.
func shellScore(tool Tool) int {
	score := 0
	for _, word := range words(tool.Name) {
		switch word {
		case "bash", "shell", "powershell", "terminal", "sh", "zsh":
			score = max(score, 3)
		case "command", "commands", "cmd", "exec", "execute", "commandline":
			score = max(score, 2)
		case "run", "local", "tool", "in", "container":
		default:
			return 0
		}
	}
	return score
}

// topicScore is above 0 for tools that only look something up and whose
// subject the prompt names: get_weather for "What is the weather in Oslo?". A
// name without a verb could do anything; "weather" is the exception, the first
// example in the documentation of many clients.
func topicScore(prompt string) func(Tool) int {
	asked := promptWords(prompt)
	return func(tool Tool) int {
		score, looksUp := 0, strings.EqualFold(tool.Name, "weather")
		for _, word := range words(tool.Name) {
			switch word {
			case "get", "fetch", "find", "lookup", "search", "query":
				looksUp = true
			case "current", "tool":
			default:
				if !slices.Contains(asked, word) {
					return 0
				}
				score++
			}
		}
		if !looksUp {
			return 0
		}
		return score
	}
}

func promptWords(prompt string) []string {
	return strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return !isWordRune(r) })
}

// pathHint gives the path to the property that takes it.
func pathHint(path string) hint {
	return func(name string, p property) (any, int) {
		score := pathScore(name)
		switch {
		case score == 0:
			return nil, 0
		case p.is("array") && !p.items().is("object"):
			return []any{path}, score
		case p.is("string") || p.open():
			return path, score
		}
		return nil, 0
	}
}

// pathScore says how likely a property of that name takes the file's path.
func pathScore(name string) int {
	list := words(name)
	has := func(word string) bool { return slices.Contains(list, word) }
	switch {
	case has("file") && has("path") || has("filepath"), has("path") && (has("absolute") || has("abs") || has("target")):
		return 5
	case has("path"), has("target") && has("file"):
		return 4
	case has("filename"), has("file") && len(list) <= 2:
		return 3
	case has("paths"), has("files"), has("uri"):
		return 2
	}
	return 0
}

// commandHint gives a command to the property that takes it, as a line or as a
// list of words, and says what it is for where that is asked.
func commandHint(tool string, command shellLine) hint {
	line, argv := command.unix, []any{"sh", "-c", command.unix}
	if slices.Contains(words(tool), "powershell") {
		line, argv = command.windows, []any{"powershell", "-Command", command.windows}
	}
	return func(name string, p property) (any, int) {
		list := words(name)
		is := func(names ...string) bool {
			return slices.ContainsFunc(list, func(w string) bool { return slices.Contains(names, w) })
		}
		switch {
		case is("description", "explanation"):
			if p.required {
				return command.about, 1
			}
		case is("commands") && p.is("array") && !p.items().is("object"):
			return []any{line}, 4
		case !is("command", "cmd", "script", "commandline"):
		case p.is("array"):
			return argv, 5
		case p.is("string") || p.open():
			return line, 5
		}
		return nil, 0
	}
}

// topicHint gives what looks like a name in the prompt to required texts.
func topicHint(prompt string) hint {
	subject := promptSubject(prompt)
	return func(_ string, p property) (any, int) {
		if subject != "" && p.required && p.is("string") && !p.limited() {
			return subject, 1
		}
		return nil, 0
	}
}

// promptSubject is the last run of capitalised words that does not begin the
// prompt, as in "weather in New York".
func promptSubject(prompt string) string {
	var subject, run []string
	for i, word := range strings.Fields(prompt) {
		name := strings.TrimFunc(word, func(r rune) bool { return !isWordRune(r) })
		if i > 0 && name != "" && strings.ToLower(name[:1]) != name[:1] && len(run) < 4 {
			run = append(run, name)
			subject = run
			continue
		}
		run = nil
	}
	return strings.Join(subject, " ")
}
