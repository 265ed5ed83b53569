package agentrpc

import (
	"encoding/json"
	"strconv"
	"strings"

	"cursortray/proxy/cursor/cursorpb"
)

// searchAnswer answers searching and listing; nil for all else.
func (p pendingExec) searchAnswer(c content) *cursorpb.ExecClientMessage {
	switch x := p.exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_GrepArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_GrepResult{GrepResult: grepAnswer(x.GrepArgs, c)}}
	case *cursorpb.ExecServerMessage_LsArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_LsResult{LsResult: listAnswer(x.LsArgs.GetPath(), p.way, c)}}
	}
	return nil
}

// grepAnswer reads the client's text into one of the three forms of a result.
// Text in no form that is known goes on as it is: nothing of it is lost.
func grepAnswer(args *cursorpb.GrepArgs, c content) *cursorpb.GrepResult {
	if c.failed {
		return &cursorpb.GrepResult{Result: &cursorpb.GrepResult_Error{Error: &cursorpb.GrepError{Error: c.text}}}
	}
	where := args.GetPath()
	if where == "" {
		where = "."
	}
	success := &cursorpb.GrepSuccess{Pattern: args.GetPattern(), Path: args.GetPath()}
	union := &cursorpb.GrepUnionResult{}
	filesOnly := args.GetPattern() == "" || args.GetOutputMode() == "files_with_matches"
	if matches, ok := parseMatches(c.text); ok && len(matches) > 0 && args.GetPattern() != "" {
		success.OutputMode = "content"
		union.Result = contentResult(matches, c.cut)
	} else if counts, ok := parseCounts(c.text); ok && args.GetOutputMode() == "count" {
		success.OutputMode = "count"
		union.Result = countResult(counts, c.cut)
	} else if files, ok := parseFiles(c.text); filesOnly || ok {
		success.OutputMode = "files_with_matches"
		union.Result = &cursorpb.GrepUnionResult_Files{Files: &cursorpb.GrepFilesResult{
			Files: files, TotalFiles: int32(len(files)), ClientTruncated: c.cut}}
	} else {
		success.OutputMode = "content"
		union.Result = contentResult([]*cursorpb.GrepFileMatch{{File: where, Matches: []*cursorpb.GrepContentMatch{{Content: c.text}}}}, c.cut)
	}
	success.WorkspaceResults = map[string]*cursorpb.GrepUnionResult{where: union}
	return &cursorpb.GrepResult{Result: &cursorpb.GrepResult_Success{Success: success}}
}

func contentResult(matches []*cursorpb.GrepFileMatch, cut bool) *cursorpb.GrepUnionResult_Content {
	lines := 0
	for _, file := range matches {
		lines += len(file.Matches)
	}
	return &cursorpb.GrepUnionResult_Content{Content: &cursorpb.GrepContentResult{
		Matches: matches, TotalLines: int32(lines), TotalMatchedLines: int32(lines), ClientTruncated: cut,
	}}
}

func countResult(counts []*cursorpb.GrepFileCount, cut bool) *cursorpb.GrepUnionResult_Count {
	total := int32(0)
	for _, file := range counts {
		total += file.Count
	}
	return &cursorpb.GrepUnionResult_Count{Count: &cursorpb.GrepCountResult{
		Counts: counts, TotalFiles: int32(len(counts)), TotalMatches: total, ClientTruncated: cut,
	}}
}

// Lines of results as searching tools write them: "path:12:text" of grep and
// ripgrep, "path:" over "  Line 12: text" or "12: text", "path:3" for a count.
// A path may begin with a Windows drive.
var (
	matchLine = pattern(`^((?:[A-Za-z]:)?[^:\s][^:]*):(\d{1,9}):(.*)$`)
	fileLine  = pattern(`^((?:[A-Za-z]:)?[^:\s][^:]*):$`)
	innerLine = pattern(`^\s*(?:Line )?(\d{1,9}): ?(.*)$`)
	countLine = pattern(`^((?:[A-Za-z]:)?[^:\s][^:]*):(\d{1,9})$`)
	totalLine = pattern(`(?i)^found \d+ (?:match|result|file|line)\w*\b[^:]*$`)
	nothing   = pattern(`(?i)^(?:no (?:matches|matching files|files|results|entries)\b[^:\n]*|found 0 [^:\n]*|\(no output\)|\(empty\))$`)
)

// searchLines are the lines that say something; none when the text says that
// nothing was found.
func searchLines(text string) []string {
	text = strings.TrimSpace(text)
	if nothing().MatchString(text) {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed != "--" && !totalLine().MatchString(trimmed) {
			lines = append(lines, line)
		}
	}
	return lines
}

// parseMatches reads lines that were found. It reports false unless every line
// is understood.
func parseMatches(text string) ([]*cursorpb.GrepFileMatch, bool) {
	var files []*cursorpb.GrepFileMatch
	add := func(file, number, line string) {
		n, _ := strconv.ParseInt(number, 10, 32)
		if last := len(files) - 1; last < 0 || files[last].File != file {
			files = append(files, &cursorpb.GrepFileMatch{File: file})
		}
		file0 := files[len(files)-1]
		file0.Matches = append(file0.Matches, &cursorpb.GrepContentMatch{LineNumber: int32(n), Content: line})
	}
	under := ""
	for _, line := range searchLines(text) {
		if m := matchLine().FindStringSubmatch(line); m != nil {
			add(m[1], m[2], m[3])
		} else if m := innerLine().FindStringSubmatch(line); m != nil && under != "" {
			add(under, m[1], m[2])
		} else if m := fileLine().FindStringSubmatch(line); m != nil {
			under = m[1]
		} else {
			return nil, false
		}
	}
	return files, true
}

func parseCounts(text string) ([]*cursorpb.GrepFileCount, bool) {
	var counts []*cursorpb.GrepFileCount
	for _, line := range searchLines(text) {
		m := countLine().FindStringSubmatch(line)
		if m == nil {
			return nil, false
		}
		n, _ := strconv.ParseInt(m[2], 10, 32)
		counts = append(counts, &cursorpb.GrepFileCount{File: m[1], Count: int32(n)})
	}
	return counts, true
}

// parseFiles reads a list of files: one a line, or a JSON list. It reports
// whether all of them look like paths; the lines come in any case.
func parseFiles(text string) (files []string, paths bool) {
	var list []string
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &list) == nil {
		return list, true
	}
	paths = true
	for _, line := range searchLines(text) {
		line = strings.TrimSpace(line)
		files = append(files, line)
		paths = paths && !strings.ContainsAny(line, " \t") && strings.ContainsAny(line, "/\\.")
	}
	return files, paths
}

// listAnswer reads a listing into a tree of one folder.
func listAnswer(folder string, how wayKind, c content) *cursorpb.LsResult {
	if c.failed {
		return &cursorpb.LsResult{Result: &cursorpb.LsResult_Error{Error: &cursorpb.LsError{Path: folder, Error: c.text}}}
	}
	if folder == "" {
		folder = "."
	}
	root := newFolder(folder)
	if how == wayGlob {
		files, _ := parseFiles(c.text)
		for _, file := range files {
			addEntry(root, strings.TrimPrefix(strings.TrimPrefix(file, strings.TrimSuffix(folder, "/")+"/"), "./"))
		}
	} else {
		parseTree(root, c.text)
	}
	return &cursorpb.LsResult{Result: &cursorpb.LsResult_Success{Success: &cursorpb.LsSuccess{DirectoryTreeRoot: root}}}
}
