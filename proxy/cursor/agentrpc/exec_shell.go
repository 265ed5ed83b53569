package agentrpc

import (
	"path/filepath"
	"slices"
	"strings"

	"cursortray/proxy/chat/clienttool"
	"cursortray/proxy/cursor/cursorpb"
)

func shellWork(args *cursorpb.ShellArgs) work {
	timeout := int(args.GetTimeout())
	if args.GetTimeoutBehavior() == cursorpb.TimeoutBehavior_TIMEOUT_BEHAVIOR_BACKGROUND {
		timeout = int(args.GetHardTimeout()) // the other one does not end the command
	}
	w := work{ways: []way{{tools: shellTools(), fill: func(a *arguments) {
		a.command(args.GetCommand(), args.GetWorkingDirectory())
		a.duration(timeout)
		a.describe(args.GetDescription(), args.GetCommand())
		if args.GetIsBackground() {
			a.need(true, "run_in_background", "is_background", "isBackground", "background")
		}
	}}}}
	if args.GetIsBackground() {
		w.unable = "commands cannot run in the background here"
	}
	return w
}

// piShellWork has its timeout in seconds.
func piShellWork(args *cursorpb.PiBashExecArgs) work {
	seconds := min(max(args.GetTimeout(), 0), 24*60*60)
	return work{ways: []way{{tools: shellTools(), fill: func(a *arguments) {
		a.command(args.GetCommand(), "")
		a.duration(int(seconds * 1000))
		a.describe("", args.GetCommand())
	}}}}
}

// command fills the command line and the folder to run it in. A tool that takes
// no folder gets a command that changes into it first.
func (a *arguments) command(command, folder string) {
	if folder != "" && !a.home(folder) && !a.offer(folder, "workdir", "cwd", "working_directory", "directory") {
		if a.windows() {
			a.fail() // which shell will read the command is not known
			return
		}
		command = "cd " + quoteShell(folder) + " && " + command
	}
	key := a.tool.Key("command", "cmd", "commandline", "commands")
	if key == "" {
		a.fail()
		return
	}
	if a.property(key).list() && clienttool.Fold(key) != "commands" {
		a.values[key] = a.shellCall(command)
		return
	}
	a.need(command, key)
}

// describe says what a command is for. Tools that insist on it get the beginning
// of the command where the request does not say.
func (a *arguments) describe(text, command string) {
	key := a.tool.Key("description", "explanation")
	switch {
	case key == "":
		return
	case text == "" && a.requires(key):
		text, _, _ = strings.Cut(strings.TrimSpace(command), "\n")
		if runes := []rune(text); len(runes) > maxDescription {
			text = string(runes[:maxDescription]) + "…"
		}
	}
	if text != "" {
		a.offer(text, key)
	}
}

const maxDescription = 80

// home tells that a folder is where the client runs commands anyway.
func (a *arguments) home(folder string) bool {
	folders := a.settings.env.GetWorkspacePaths()
	if a.workspace != "" {
		folders = append(slices.Clip(folders), a.workspace)
	}
	return slices.ContainsFunc(folders, func(known string) bool { return filepath.Clean(known) == filepath.Clean(folder) })
}

func (a *arguments) windows() bool {
	return strings.HasPrefix(strings.ToLower(a.settings.env.GetOsVersion()), "win")
}

// shellCall is a command line as the list of words that starts a shell with it.
func (a *arguments) shellCall(command string) []string {
	if a.windows() {
		return []string{"powershell.exe", "-NoProfile", "-Command", command}
	}
	return []string{"bash", "-lc", command}
}

func quoteShell(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
