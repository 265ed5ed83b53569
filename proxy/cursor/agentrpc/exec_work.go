package agentrpc

import (
	"cursortray/proxy/cursor/cursorpb"
)

// work is a native request in terms of what clients' tools can do.
type work struct {
	ways   []way  // in the order of preference
	unable string // why no tool can do it, for the model; "" for the usual words
}

// way is one kind of tool that could do a work.
type way struct {
	kind  wayKind
	tools []string         // names in the order of preference; case and punctuation do not matter
	fill  func(*arguments) // what the work says, put into the tool's arguments
}

// wayKind says how the client's answer is to be read where that is not clear
// from the request.
type wayKind uint8

const (
	wayPlain wayKind = iota
	wayGlob          // a folder listed by a search for files
)

// Names under which clients offer tools for the same work, as seen in 2026.
// They are compared without case and punctuation.
func readTools() []string {
	return []string{"read", "read_file", "view", "view_file", "read_text_file"}
}
func writeTools() []string {
	return []string{"write", "write_file", "create_file", "write_to_file", "create"}
}
func editTools() []string {
	return []string{"edit", "str_replace", "edit_file", "multiedit", "multi_edit", "replace", "search_replace", "replace_string_in_file"}
}
func patchTools() []string { return []string{"apply_patch"} }
func shellTools() []string {
	return []string{
		"bash", "shell", "run_command", "execute_command", "terminal", "run_shell_command", "shell_command",
		"exec_command", "run_terminal_cmd", "run_in_terminal", "run_commands",
	}
}
func grepTools() []string {
	return []string{"grep", "search", "grep_search", "search_files", "search_file_content", "ripgrep", "rg"}
}
func globTools() []string   { return []string{"glob", "find", "find_files", "glob_files"} }
func listTools() []string   { return []string{"ls", "list", "list_dir", "list_directory", "list_files"} }
func deleteTools() []string { return []string{"delete", "delete_file", "remove_file", "rm"} }
func fetchTools() []string  { return []string{"webfetch", "fetch", "web_fetch", "fetch_url"} }

// Keys of arguments, likewise.
func pathKeys() []string {
	return []string{"path", "file_path", "filePath", "absolute_path", "file", "filename", "target_file"}
}
func folderKeys() []string {
	return []string{"path", "dir_path", "dirPath", "directory", "dir", "folder", "target_directory"}
}

// nativeWork translates a native request. It reports false for the kinds that no
// client's tool does.
func nativeWork(exec *cursorpb.ExecServerMessage) (work, bool) {
	switch x := exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_ReadArgs:
		return readWork(x.ReadArgs.GetPath(), int(x.ReadArgs.GetOffset()), int(x.ReadArgs.GetLimit())), true
	case *cursorpb.ExecServerMessage_PiReadArgs:
		return readWork(x.PiReadArgs.GetPath(), int(x.PiReadArgs.GetOffset()), int(x.PiReadArgs.GetLimit())), true
	case *cursorpb.ExecServerMessage_WriteArgs:
		return nativeWrite(x.WriteArgs), true
	case *cursorpb.ExecServerMessage_PiWriteArgs:
		return writeWork(x.PiWriteArgs.GetPath(), x.PiWriteArgs.GetContent()), true
	case *cursorpb.ExecServerMessage_PiEditArgs:
		return editWork(x.PiEditArgs), true
	case *cursorpb.ExecServerMessage_DeleteArgs:
		return deleteWork(x.DeleteArgs.GetPath()), true
	case *cursorpb.ExecServerMessage_ShellArgs:
		return shellWork(x.ShellArgs), true
	case *cursorpb.ExecServerMessage_ShellStreamArgs:
		return shellWork(x.ShellStreamArgs), true
	case *cursorpb.ExecServerMessage_MiniSweAgentBashArgs:
		return shellWork(x.MiniSweAgentBashArgs), true
	case *cursorpb.ExecServerMessage_PiBashArgs:
		return piShellWork(x.PiBashArgs), true
	}
	return searchingWork(exec)
}

// searchingWork does so for what finds things.
func searchingWork(exec *cursorpb.ExecServerMessage) (work, bool) {
	switch x := exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_GrepArgs:
		if x.GrepArgs.GetPattern() == "" {
			return globWork(x.GrepArgs.GetGlob(), x.GrepArgs.GetPath(), int(x.GrepArgs.GetHeadLimit())), true
		}
		return grepWork(x.GrepArgs), true
	case *cursorpb.ExecServerMessage_PiGrepArgs:
		return piGrepWork(x.PiGrepArgs), true
	case *cursorpb.ExecServerMessage_PiFindArgs:
		return globWork(x.PiFindArgs.GetPattern(), x.PiFindArgs.GetPath(), int(x.PiFindArgs.GetLimit())), true
	case *cursorpb.ExecServerMessage_LsArgs:
		return listWork(x.LsArgs.GetPath(), x.LsArgs.GetIgnore(), 0), true
	case *cursorpb.ExecServerMessage_PiLsArgs:
		return listWork(x.PiLsArgs.GetPath(), nil, int(x.PiLsArgs.GetLimit())), true
	case *cursorpb.ExecServerMessage_FetchArgs:
		return fetchWork(x.FetchArgs.GetUrl()), true
	}
	return work{}, false
}
