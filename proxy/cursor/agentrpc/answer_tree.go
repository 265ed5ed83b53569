package agentrpc

import (
	"encoding/json"
	"strings"

	"cursortray/proxy/cursor/cursorpb"
)

func newFolder(name string) *cursorpb.LsDirectoryTreeNode {
	return &cursorpb.LsDirectoryTreeNode{AbsPath: name, ChildrenWereProcessed: true}
}

// addEntry puts a line of a listing into a folder. A name that ends with a slash
// is a folder. It returns that folder, nil for a file.
func addEntry(folder *cursorpb.LsDirectoryTreeNode, name string) *cursorpb.LsDirectoryTreeNode {
	if inner, ok := strings.CutSuffix(name, "/"); ok && inner != "" {
		child := newFolder(strings.TrimSuffix(folder.AbsPath, "/") + "/" + inner)
		folder.ChildrenDirs = append(folder.ChildrenDirs, child)
		return child
	}
	if name != "" {
		folder.ChildrenFiles = append(folder.ChildrenFiles, &cursorpb.LsDirectoryTreeNodeFile{Name: name})
		folder.NumFiles++
	}
	return nil
}

// treeLevel is a folder whose entries are being read, and how far its own line
// was indented.
type treeLevel struct {
	indent int
	folder *cursorpb.LsDirectoryTreeNode
}

// maxTreeDepth bounds what goes on the wire: common decoders take a hundred
// levels of messages.
const maxTreeDepth = 40

// parseTree reads listings as clients write them: names, one a line; indented
// trees, with or without bullets, below the path of the folder; "[DIR] name"
// for folders. A line in any other form becomes an entry as it is.
func parseTree(root *cursorpb.LsDirectoryTreeNode, text string) {
	var list []string
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &list) == nil {
		for _, name := range list {
			addEntry(root, name)
		}
		return
	}
	levels := []treeLevel{{indent: -1, folder: root}}
	for i, line := range searchLines(text) {
		indent, name := listingLine(line)
		if i == 0 && isHeading(name, root.AbsPath) {
			continue
		}
		for len(levels) > 1 && levels[len(levels)-1].indent >= indent {
			levels = levels[:len(levels)-1]
		}
		child := addEntry(levels[len(levels)-1].folder, name)
		if child != nil && len(levels) < maxTreeDepth {
			levels = append(levels, treeLevel{indent: indent, folder: child})
		}
	}
}

// listingLine returns how far a line is indented and the name in it.
func listingLine(line string) (indent int, name string) {
	name = strings.TrimLeft(line, " \t")
	indent = len(line) - len(name)
	name = strings.TrimPrefix(strings.TrimPrefix(name, "- "), "* ")
	name = strings.TrimRight(name, " \t")
	if folder, ok := strings.CutPrefix(name, "[DIR] "); ok {
		name = strings.TrimSuffix(folder, "/") + "/"
	}
	return indent, strings.TrimPrefix(name, "[FILE] ")
}

// isHeading tells whether the first line names the folder itself, as
// "/w/src/" or "Directory listing for /w/src:".
func isHeading(name, folder string) bool {
	bare := strings.TrimRight(name, "/\\:")
	own := strings.TrimRight(folder, "/\\")
	return own != "" && own != "." && (bare == own || strings.HasSuffix(name, ":") && strings.HasSuffix(bare, " "+own))
}
