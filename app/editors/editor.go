package editors

import "cursortray/app/confedit"

// provider is the name under which editors know cursortray.
const provider = "cursortray"

// editor is the facts about one editor. Each has a file of its own.
type editor struct {
	id, name string
	commands []string             // programs on the PATH that say it is there
	traces   func(Env) []string   // files and folders that say so; * is a wildcard
	targets  func(Env) []target   // the files to edit; none: it is set up by hand
	steps    func(Setup) []string // what is left for the user to do
	vars     func(Setup) []Var    // environment variables that it needs
	dialect  dialect              // how it talks
}

// target is one file to edit, under the names that it may have: the first that
// exists, else the first one, is it.
type target struct {
	variants []variant
	optional bool // only where its folder exists
}

type variant struct {
	path   string
	format confedit.Format
	seed   confedit.Map // what a file without any content begins with
	edits  func(Setup) []edit
	says   func(Setup) says
	whole  bool // the file is cursortray's alone
	exists bool // only if it exists, it is never made
}

// edit is one value to set.
type edit struct {
	path   confedit.Path
	value  any    // nil: what is there is in the way and taken out
	own    bool   // the place is cursortray's: undo takes all of it out
	choice bool   // makes the editor use cursortray; see Setup.KeepChoice
	once   bool   // only if there is nothing; the editor goes on with it
	prefix string // a text that begins so is ours as well, whatever follows
}

// says is where a file holds what the editor will use; nil: not in the file.
type says struct {
	base, key, model confedit.Path
	prefix           string // of the model's name in this file
}

// set is the common case of an edit.
func set(value any, names ...string) edit {
	return edit{path: confedit.Names(names...), value: value}
}

func all() []editor {
	return []editor{
		openCode(), codex(), claudeCode(), continueDev(), zed(), vsCode(), jetBrains(),
		cline(), clineCLI(), kilo(), kiloCLI(), roo(),
		aider(), goose(), pi(), qwenCode(), copilotCLI(), other(),
	}
}

// known leaves members out whose value is nil or zero: what is not known is
// not written.
func known(m confedit.Map) confedit.Map {
	var kept confedit.Map
	for _, member := range m {
		switch member.Value {
		case nil, 0, "":
			continue
		}
		kept = append(kept, member)
	}
	return kept
}
