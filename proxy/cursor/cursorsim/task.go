package cursorsim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A task is what a prompt asks to be done with files and commands, in the order
// of its words:
//
//	Read the file a.txt, replace `second` with `third` in it, run the command
//	`cat a.txt`, then tell me what it printed.
//
// The scripted model understands these forms and no others. Old and new text
// and commands stand in quotes of any kind; clients that quote prompts
// themselves leave backquotes alone.
type action struct {
	kind     actionKind
	path     string // of reading, editing, writing
	old, new string // of editing; new is also what is written
	command  string // of running
}

type actionKind int

const (
	reading actionKind = iota
	editing
	writing
	running
)

var (
	// OpenCode quotes the prompt and with it the quotes in it.
	quoted = `(?:\\?"([^"\n]+?)\\?"|'([^'\n]+)'|` + "`([^`\\n]+)`)"
	// it is a path, or a word for the one that was named before.
	inPath = `(?:\s+(?:in|of|into|to)\s+(?:(?:the|a|new)\s+)*(?:file\s+)?(?:it\b|` + pathPattern + `))?`

	readTask  = lazy(`(?i)\bread\s+(?:the\s+)?(?:files?\s+)?` + pathPattern + `((?:\s*,?\s*(?:and\s+)?(?:the\s+file\s+)?` + pathPattern + `)*)`)
	editTask  = lazy(`(?i)\b(?:replace|change)\s+(?:the\s+(?:text|words?|line)\s+)?` + quoted + `\s+(?:with|by|to|into)\s+(?:the\s+(?:text|words?|line)\s+)?` + quoted + inPath)
	writeTask = lazy(`(?i)\bwrite\s+(?:the\s+(?:text|words?|line)\s+)?` + quoted + inPath)
	runTask   = lazy(`(?i)\b(?:run|execute)\s+(?:the\s+)?(?:shell\s+)?(?:command\s+)?` + quoted)
	atOnce    = lazy(`(?i)\b(?:at once|in parallel|at the same time)\b`)
	nextPath  = lazy(pathPattern)
)

// findTask returns what prompt asks for in several steps, or in one that is more
// than reading, and nil for any other prompt. What is in one batch is done at
// once.
func findTask(prompt string) [][]action {
	found := findActions(prompt)
	if len(found) == 0 || len(found) == 1 && found[0].kind == reading {
		return nil // looked for in more ways, by findPath
	}
	together := atOnce().MatchString(prompt)
	var batches [][]action
	for i, a := range found {
		if together && i > 0 && a.kind == reading && found[i-1].kind == reading {
			last := len(batches) - 1
			batches[last] = append(batches[last], a)
			continue
		}
		batches = append(batches, []action{a})
	}
	return batches
}

// findActions returns the actions in the order in which the prompt names them.
// What has no path of its own is about the file that was named last.
func findActions(prompt string) []action {
	type place struct {
		action
		at int
	}
	var all []place
	each := func(pattern *regexp.Regexp, take func(groups []string) []action) {
		for _, m := range pattern.FindAllStringSubmatchIndex(prompt, -1) {
			for _, a := range take(groupsOf(prompt, m)) {
				all = append(all, place{a, m[0]})
			}
		}
	}
	each(readTask(), func(g []string) []action {
		list := []action{{kind: reading, path: cleanPath(g[1])}}
		for _, path := range nextPath().FindAllString(g[2], -1) {
			list = append(list, action{kind: reading, path: cleanPath(path)})
		}
		return list
	})
	each(editTask(), func(g []string) []action {
		return []action{{kind: editing, old: cmp.Or(g[1:4]...), new: cmp.Or(g[4:7]...), path: cleanPath(g[7])}}
	})
	each(writeTask(), func(g []string) []action {
		return []action{{kind: writing, new: cmp.Or(g[1:4]...), path: cleanPath(g[4])}}
	})
	each(runTask(), func(g []string) []action {
		return []action{{kind: running, command: cmp.Or(g[1:4]...)}}
	})
	slices.SortStableFunc(all, func(a, b place) int { return a.at - b.at })
	var list []action
	path := ""
	for _, p := range all {
		if p.kind != running {
			p.path = cmp.Or(p.path, path)
			if path = p.path; path == "" {
				continue
			}
		}
		list = append(list, p.action)
	}
	return list
}

func groupsOf(text string, m []int) []string {
	groups := make([]string, len(m)/2)
	for i := range groups {
		if m[2*i] >= 0 {
			groups[i] = text[m[2*i]:m[2*i+1]]
		}
	}
	return groups
}

// doable leaves out what none of the tools can do.
func doable(batches [][]action, tools []Tool) [][]action {
	var able [][]action
	for _, batch := range batches {
		batch = slices.DeleteFunc(slices.Clone(batch), func(a action) bool {
			_, ok := a.call(tools, nil)
			return !ok
		})
		if len(batch) > 0 {
			able = append(able, batch)
		}
	}
	return able
}

// taskSteps plays the batch that is due after the results so far, and tells what
// came of it after the last one. It returns nil if the tools can do nothing of
// the task.
func taskSteps(batches [][]action, t Turn) []Step {
	done := 0
	for i, batch := range batches {
		if done >= len(t.Results) {
			return batchSteps(batch, i, len(batches), t)
		}
		done += len(batch)
	}
	return []Step{Say{report(batches, t.Results)}}
}

func batchSteps(batch []action, i, n int, t Turn) []Step {
	var names []string
	var calls []Step
	for _, a := range batch {
		call, _ := a.call(t.Tools, t.Results)
		calls = append(calls, call)
		names = append(names, a.aim()+" with the tool "+call.Name)
	}
	return append([]Step{Think{"Step " + number(i+1) + " of " + number(n) + ": " + strings.Join(names, ", and ") + "."}}, calls...)
}

func (a action) aim() string {
	switch a.kind {
	case reading:
		return "read " + a.path
	case editing:
		return "change " + a.path
	case writing:
		return "write " + a.path
	}
	return "run a command"
}

// report tells what was done and what the last result says.
func report(batches [][]action, results []string) string {
	var did []string
	var last action
	for _, batch := range batches {
		for _, a := range batch {
			did = append(did, a.aim())
			last = a
		}
	}
	text := "I did " + number(len(did)) + " steps: " + strings.Join(did, ", ") + "."
	if len(did) == 1 {
		text = "I did one step: " + did[0] + "."
	}
	line := firstLine(results[len(results)-1])
	switch {
	case line == "":
		return text + " The last tool's result is empty." + copied
	case last.kind == running:
		return text + " The command printed: " + line + copied
	case last.kind == reading:
		return text + " The first line is: " + line + copied
	}
	return text + " The tool says: " + line + copied
}
