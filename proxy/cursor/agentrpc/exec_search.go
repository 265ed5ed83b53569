package agentrpc

import (
	"regexp"

	"cursortray/proxy/chat/clienttool"
	"cursortray/proxy/cursor/cursorpb"
)

func grepWork(args *cursorpb.GrepArgs) work {
	return work{ways: []way{{tools: grepTools(), fill: func(a *arguments) {
		a.pattern(args.GetPattern(), args.GetCaseInsensitive(), args.GetPath(), args.GetGlob())
		if mode := args.GetOutputMode(); mode != "" {
			a.offer(mode, "output_mode", "outputMode")
		}
		a.around(int(args.GetContext()), "context", "-C")
		a.around(int(args.GetContextBefore()), "context_before", "-B")
		a.around(int(args.GetContextAfter()), "context_after", "-A")
		if kind := args.GetType(); kind != "" {
			a.offer(kind, "type")
		}
		if args.GetMultiline() {
			a.offer(true, "multiline")
		}
		a.limit(int(args.GetHeadLimit()))
		if n := int(args.GetOffset()); n > 0 {
			a.offer(n, "offset")
		}
	}}}}
}

func piGrepWork(args *cursorpb.PiGrepExecArgs) work {
	return work{ways: []way{{tools: grepTools(), fill: func(a *arguments) {
		pattern := args.GetPattern()
		if args.GetLiteral() && !a.offer(true, "literal", "fixed_strings") {
			pattern = regexp.QuoteMeta(pattern)
		}
		a.pattern(pattern, args.GetIgnoreCase(), args.GetPath(), args.GetGlob())
		a.around(int(args.GetContext()), "context", "-C")
		a.limit(int(args.GetLimit()))
	}}}}
}

// pattern fills what to search for and where. "query" is left out: tools that
// take one search by meaning, or the web.
func (a *arguments) pattern(pattern string, anyCase bool, path, glob string) {
	if anyCase && !a.offer(true, "case_insensitive", "ignore_case", "ignoreCase", "-i") && !a.offer(false, "case_sensitive") {
		pattern = "(?i)" + pattern
	}
	keys := []string{"pattern", "regex", "regexp"}
	if clienttool.Fold(a.tool.Name) == "searchfiles" {
		keys = keys[1:] // such tools with a "pattern" search for names
	}
	a.need(pattern, keys...)
	if path != "" {
		a.need(path, folderKeys()...)
	} else if key := a.tool.Key(folderKeys()...); key != "" && a.requires(key) {
		a.need(".", key)
	}
	if glob != "" {
		a.need(glob, "glob", "include", "include_pattern", "file_pattern", "filePattern")
	}
}

func (a *arguments) around(lines int, keys ...string) {
	if lines > 0 {
		a.offer(lines, keys...)
	}
}

func (a *arguments) limit(n int) {
	if n > 0 {
		a.offer(n, "head_limit", "limit", "max_results", "maxResults")
	}
}

func (a *arguments) requires(key string) bool {
	for _, required := range a.tool.Required {
		if required == key {
			return true
		}
	}
	return false
}

func globWork(pattern, path string, limit int) work {
	if pattern == "" {
		pattern = "*"
	}
	return work{ways: []way{{tools: globTools(), fill: func(a *arguments) { a.glob(pattern, path, limit) }}}}
}

func (a *arguments) glob(pattern, path string, limit int) {
	a.need(pattern, "pattern", "glob_pattern", "glob")
	if path != "" {
		a.need(path, folderKeys()...)
	} else if key := a.tool.Key(folderKeys()...); key != "" && a.requires(key) {
		a.need(".", key)
	}
	a.limit(limit)
}

func listWork(path string, ignore []string, limit int) work {
	if path == "" {
		path = "."
	}
	return work{ways: []way{
		{tools: listTools(), fill: func(a *arguments) {
			a.need(path, folderKeys()...)
			if len(ignore) > 0 {
				a.offer(ignore, "ignore", "exclude")
			}
			a.limit(limit)
		}},
		{kind: wayGlob, tools: globTools(), fill: func(a *arguments) { a.glob("*", path, limit) }},
	}}
}

func fetchWork(url string) work {
	return work{ways: []way{{tools: fetchTools(), fill: func(a *arguments) {
		a.need(url, "url", "uri", "urls")
		a.offer("markdown", "format")
		if key := a.tool.Key("prompt"); key != "" && a.requires(key) {
			a.need("Give the content of the page.", key)
		}
	}}}}
}
