package agentcli

import (
	"slices"
	"strings"
)

// command is a way to start the CLI: a program, the words that always come
// first, and additions to the environment.
type command struct {
	path string
	args []string
	env  []string
	// chosen says that the user named this program, so that it is used even
	// when its version looks foreign.
	chosen bool
}

// machine is the part of the computer that the search looks at, in the words of
// any operating system, so that each system's table is tested on all.
type machine struct {
	env        func(name string) string
	executable func(path string) bool
	list       func(folder string) []string // names in a folder, in any order
}

// userVariables are the environment variables with which users name the CLI, as
// wrappers of it have established them.
func userVariables() []string {
	return []string{"CURSOR_AGENT_BIN", "CURSOR_AGENT_EXECUTABLE", "CURSOR_AGENT_PATH"}
}

// unixCandidates returns the programs that may be the CLI on Linux and macOS,
// best first. A program started from a desktop session does not have the shell's
// PATH, hence the places after it.
func unixCandidates(m machine, setting string) []command {
	home := m.env("HOME")
	path := absoluteFolders(strings.Split(m.env("PATH"), ":"), "/")
	var s search
	if setting != "" {
		for _, name := range inFolders(setting, path, "/") {
			s.addChosen(m, command{path: name})
		}
		return s.found
	}
	for _, variable := range userVariables() {
		if name := m.env(variable); name != "" {
			for _, name := range inFolders(name, path, "/") {
				s.addChosen(m, command{path: name})
			}
		}
	}
	names := []string{"cursor-agent", "agent"}
	s.addAll(m, path, names)
	s.addAll(m, []string{home + "/.local/bin"}, names)
	versions := home + "/.local/share/cursor-agent/versions"
	for _, version := range newestFirst(m.list(versions)) {
		s.add(m, command{path: versions + "/" + version + "/cursor-agent"})
	}
	s.addAll(m, []string{home + "/.cursor/bin", home + "/.cursor-agent", "/usr/local/bin", "/opt/homebrew/bin"}, names)
	for _, folder := range append(path, "/usr/local/bin", "/opt/homebrew/bin") {
		s.add(m, command{path: folder + "/cursor", args: []string{"agent"}}) // the editor's launcher
	}
	return s.found
}

// windowsCandidates is the same for Windows, where the package has scripts and no
// program of its own: the newest version folder is run directly. The editor's
// launcher is left out, for it is a command file, and cmd.exe would read the
// arguments a second time.
func windowsCandidates(m machine, setting string) []command {
	path := absoluteFolders(strings.Split(m.env("PATH"), ";"), `\`)
	var s search
	if setting != "" {
		for _, name := range inFolders(setting, path, `\`) {
			s.addWindows(m, name, true)
		}
		return s.found
	}
	for _, variable := range userVariables() {
		if name := m.env(variable); name != "" {
			for _, name := range inFolders(name, path, `\`) {
				s.addWindows(m, name, true)
			}
		}
	}
	for _, name := range []string{"cursor-agent.exe", "cursor-agent.cmd", "agent.exe", "agent.cmd", "agent.ps1"} {
		for _, folder := range path {
			if file := folder + `\` + name; m.executable(file) {
				s.addWindows(m, file, false)
			}
		}
	}
	if local := m.env("LOCALAPPDATA"); local != "" {
		s.addWindows(m, local+`\cursor-agent`, false)
	}
	return s.found
}

// search gathers candidates without repeating one.
type search struct{ found []command }

func (s *search) add(m machine, c command) {
	known := func(other command) bool { return other.path == c.path && slices.Equal(other.args, c.args) }
	if m.executable(c.path) && !slices.ContainsFunc(s.found, known) {
		s.found = append(s.found, c)
	}
}

func (s *search) addChosen(m machine, c command) {
	c.chosen = true
	s.add(m, c)
}

// addAll prefers a better name in a later folder to a worse one in an earlier.
func (s *search) addAll(m machine, folders, names []string) {
	for _, name := range names {
		for _, folder := range folders {
			s.add(m, command{path: folder + "/" + name})
		}
	}
}

// addWindows adds what a path stands for: a program itself; for a script or a
// folder, the layout that the package's own scripts start.
func (s *search) addWindows(m machine, path string, chosen bool) {
	lower := strings.ToLower(path)
	switch {
	case strings.HasSuffix(lower, ".exe"):
		s.add(m, command{path: path, chosen: chosen})
	case strings.HasSuffix(lower, ".cmd"), strings.HasSuffix(lower, ".ps1"), strings.HasSuffix(lower, ".bat"):
		s.addWindowsFolder(m, path[:max(strings.LastIndexByte(path, '\\'), 0)], chosen)
	default:
		s.addWindowsFolder(m, path, chosen)
	}
}

// addWindowsFolder runs node.exe with index.js of the newest version folder that
// is completely unpacked, as the package's scripts do, else the PowerShell one.
func (s *search) addWindowsFolder(m machine, folder string, chosen bool) {
	homes := []string{folder}
	for _, version := range newestFirst(m.list(folder + `\versions`)) {
		homes = append(homes, folder+`\versions\`+version)
	}
	for _, home := range homes {
		if m.executable(home+`\node.exe`) && m.executable(home+`\index.js`) {
			s.add(m, command{
				path: home + `\node.exe`, args: []string{home + `\index.js`},
				env: []string{"CURSOR_INVOKED_AS=agent.cmd"}, chosen: chosen,
			})
			return
		}
	}
	script := folder + `\cursor-agent.ps1`
	shell := m.env("SystemRoot") + `\System32\WindowsPowerShell\v1.0\powershell.exe`
	if m.executable(script) {
		s.add(m, command{path: shell, args: []string{"-NoProfile", "-ExecutionPolicy", "Bypass", "-File", script}, chosen: chosen})
	}
}

// absoluteFolders leaves out what depends on the working folder: the private
// folder of a run must not decide which program runs.
func absoluteFolders(folders []string, separator string) []string {
	return slices.DeleteFunc(folders, func(folder string) bool { return !absolute(folder, separator) })
}

func absolute(path, separator string) bool {
	if separator == "/" {
		return strings.HasPrefix(path, "/")
	}
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') || strings.HasPrefix(path, `\\`)
}

// inFolders returns the paths that a user's spelling can mean: itself, or for a
// bare name one in each folder.
func inFolders(name string, folders []string, separator string) []string {
	if absolute(name, separator) {
		return []string{name}
	}
	if strings.ContainsAny(name, `/\`) {
		return nil
	}
	var paths []string
	for _, folder := range folders {
		paths = append(paths, folder+separator+name)
	}
	return paths
}

// newestFirst sorts names like 2026.07.20-8cc9c0b and 2026.07.20-10-31-00-8cc9c0b
// and leaves out all others.
func newestFirst(names []string) []string {
	versions := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		match := versionPattern().FindString(name)
		return match != name || match == ""
	})
	slices.SortFunc(versions, func(a, b string) int { return strings.Compare(versionAge(b), versionAge(a)) })
	return versions
}

// versionAge is what a version sorts by: date, then time; the hash says nothing.
func versionAge(version string) string {
	return version[:strings.LastIndexByte(version, '-')]
}
