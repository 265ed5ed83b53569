package agentrpc

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cursortray/proxy/cursor/cursorpb"
)

func readWork(path string, offset, limit int) work {
	return work{ways: []way{{tools: readTools(), fill: func(a *arguments) {
		a.need(path, pathKeys()...)
		a.lines(offset, limit)
	}}}}
}

// lines asks for a part of a file, in whichever of the three customary ways the
// tool has. A tool that has none gives the whole file, which the answer says.
func (a *arguments) lines(offset, limit int) {
	if offset <= 0 && limit <= 0 {
		return
	}
	first := max(offset, 1)
	if key := a.tool.Key("view_range"); key != "" && a.property(key).takes("array") {
		last := -1
		if limit > 0 {
			last = first + limit - 1
		}
		a.values[key] = []int{first, last}
		a.ranged = true
		return
	}
	begun := offset <= 0 || a.offer(offset, "offset", "start_line", "startLine")
	ended := limit <= 0 || a.offer(limit, "limit", "num_lines", "line_count", "max_lines") ||
		begun && a.offer(first+limit-1, "end_line", "endLine")
	if offset <= 0 && ended {
		a.offer(first, "start_line", "startLine") // an end without a start is refused by some
	}
	a.ranged = begun && ended
}

// nativeWrite takes the bytes of the request before its text.
func nativeWrite(args *cursorpb.WriteArgs) work {
	content, ok := writtenText(args)
	if !ok {
		return work{unable: "the content is not text in an encoding that is known here, and the tools of this session write text only"}
	}
	return writeWork(args.GetPath(), content)
}

func writeWork(path, content string) work {
	return work{ways: []way{
		{tools: writeTools(), fill: func(a *arguments) {
			a.need(path, pathKeys()...)
			a.need(content, "content", "contents", "file_text", "fileText", "text")
		}},
		{tools: patchTools(), fill: func(a *arguments) { a.patch("Add", path, addedLines(content)) }},
	}}
}

// writtenText decodes the content of a write request.
func writtenText(args *cursorpb.WriteArgs) (string, bool) {
	data := args.GetFileBytes()
	if len(data) == 0 {
		return args.GetFileText(), true
	}
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(args.GetEncodingHint())) {
	case "utf16le", "ucs2", "utf16":
		return decodeUTF16(data, func(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 })
	case "utf16be":
		return decodeUTF16(data, func(a, b byte) uint16 { return uint16(b) | uint16(a)<<8 })
	case "latin1", "iso88591", "binary":
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		return string(runes), true
	}
	return string(data), utf8.Valid(data)
}

func decodeUTF16(data []byte, join func(a, b byte) uint16) (string, bool) {
	if len(data)%2 != 0 {
		return "", false
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i < len(data); i += 2 {
		units = append(units, join(data[i], data[i+1]))
	}
	if len(units) > 0 && units[0] == 0xFEFF {
		units = units[1:]
	}
	return string(utf16.Decode(units)), true
}

// editWork never lets an edit become an overwrite: an edit without old text has
// another meaning for every client.
func editWork(args *cursorpb.PiEditExecArgs) work {
	edits := args.GetEdits()
	w := work{ways: []way{
		{tools: editTools(), fill: func(a *arguments) { a.edit(args.GetPath(), edits) }},
		{tools: patchTools(), fill: func(a *arguments) { a.patch("Update", args.GetPath(), changedLines(edits)) }},
	}}
	for _, e := range edits {
		if e.GetOldText() == "" {
			return work{unable: "an edit must name the text that it replaces", ways: unfillable(w.ways)}
		}
	}
	switch len(edits) {
	case 0:
		return work{unable: "the edit says nothing to change", ways: unfillable(w.ways)}
	case 1:
	default:
		w.unable = "several replacements at once are not possible here, make one call for each"
	}
	return w
}

// unfillable keeps the names of the tools for the reason only.
func unfillable(ways []way) []way {
	for i := range ways {
		ways[i].fill = (*arguments).fail
	}
	return ways
}

func (a *arguments) edit(path string, edits []*cursorpb.PiEditReplacement) {
	a.need(path, pathKeys()...)
	if key := a.tool.Key("edits", "replacements"); key != "" && a.property(key).takes("array") {
		a.editList(key, edits)
		return
	}
	if len(edits) != 1 {
		a.fail()
		return
	}
	a.need(edits[0].GetOldText(), oldKeys()...)
	a.need(edits[0].GetNewText(), newKeys()...)
}

func oldKeys() []string { return []string{"oldText", "old_string", "oldString", "old_str"} }
func newKeys() []string { return []string{"newText", "new_string", "newString", "new_str"} }

// editList fills a list of replacements whose members the schema describes.
func (a *arguments) editList(key string, edits []*cursorpb.PiEditReplacement) {
	item := itemTool(a.tool, key)
	list := make([]any, 0, len(edits))
	for _, e := range edits {
		one := newArguments(item, a.settings, a.workspace)
		one.need(e.GetOldText(), oldKeys()...)
		one.need(e.GetNewText(), newKeys()...)
		text, ok := one.finish()
		if !ok {
			a.fail()
			return
		}
		list = append(list, text)
	}
	a.need(list, key)
}

func deleteWork(path string) work {
	return work{ways: []way{{tools: deleteTools(), fill: func(a *arguments) { a.need(path, pathKeys()...) }}}}
}

// patch fills a tool that takes a patch in the form that is known from Codex.
func (a *arguments) patch(verb, path string, body []string) {
	if path == "" || strings.ContainsAny(path, "\r\n") {
		a.fail()
		return
	}
	lines := append([]string{"*** Begin Patch", "*** " + verb + " File: " + path}, body...)
	a.need(strings.Join(append(lines, "*** End Patch"), "\n"), "patch", "input", "patchText")
}

func addedLines(content string) []string {
	if content == "" {
		return nil
	}
	return prefixed("+", content)
}

func changedLines(edits []*cursorpb.PiEditReplacement) []string {
	var lines []string
	for _, e := range edits {
		lines = append(lines, "@@")
		lines = append(lines, prefixed("-", e.GetOldText())...)
		if e.GetNewText() != "" {
			lines = append(lines, prefixed("+", e.GetNewText())...)
		}
	}
	return lines
}

func prefixed(mark, text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = mark + lines[i]
	}
	return lines
}
