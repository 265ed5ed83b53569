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
	// named is the setting or the variable in which the user named this program,
	// so that it is used even when its version looks foreign; "" if it was found.
	named string
}

// machine is the part of the computer that the search looks at, in the words of
// any operating system, so that each system's table is tested on all.
type machine struct {
	env     func(name string) string
	trouble func(path string) string     // why it is no program that may be run, "" if it is one
	list    func(folder string) []string // names in a folder, in any order
}

func (m machine) executable(path string) bool { return m.trouble(path) == "" }

// settingName is how messages name the setting that holds the path of the CLI.
const settingName = "cursor_agent"

// passedOver is a program that cannot be used.
type passedOver struct {
	named string // as in command
	path  string // or what the user wrote
	why   string
}

// userVariables are the environment variables with which users name the CLI, as
// wrappers of it have established them.
func userVariables() []string {
	return []string{"CURSOR_AGENT_BIN", "CURSOR_AGENT_EXECUTABLE", "CURSOR_AGENT_PATH"}
}

// unixCandidates returns the programs that may be the CLI on Linux and macOS,
// best first, and what the user named in vain. A program started from a desktop
// session does not have the shell's PATH, hence the places after it.
func unixCandidates(m machine, setting string) ([]command, []passedOver) {
	home := m.env("HOME")
	path := absoluteFolders(strings.Split(m.env("PATH"), ":"), "/")
	s := search{m: m, home: home, path: path, separator: "/"}
	s.addPath = func(path, named string) bool { return s.add(command{path: path, named: named}) }
	if s.addUsers(setting) {
		return s.found, s.wrong
	}
	names := []string{"cursor-agent", "agent"}
	s.addAll(path, names)
	s.addAll([]string{home + "/.local/bin"}, names)
	versions := home + "/.local/share/cursor-agent/versions"
	for _, version := range newestFirst(m.list(versions)) {
		s.add(command{path: versions + "/" + version + "/cursor-agent"})
	}
	s.addAll([]string{home + "/.cursor/bin", home + "/.cursor-agent", "/usr/local/bin", "/opt/homebrew/bin"}, names)
	for _, folder := range append(path, "/usr/local/bin", "/opt/homebrew/bin") {
		s.add(command{path: folder + "/cursor", args: []string{"agent"}}) // the editor's launcher
	}
	return s.found, s.wrong
}

// windowsCandidates is the same for Windows, where the package has scripts and no
// program of its own: the newest version folder is run directly. The editor's
// launcher is left out, for it is a command file, and cmd.exe would read the
// arguments a second time.
func windowsCandidates(m machine, setting string) ([]command, []passedOver) {
	path := absoluteFolders(strings.Split(m.env("PATH"), ";"), `\`)
	s := search{m: m, home: m.env("USERPROFILE"), path: path, separator: `\`}
	s.addPath = s.addWindows
	if s.addUsers(setting) {
		return s.found, s.wrong
	}
	for _, name := range []string{"cursor-agent.exe", "cursor-agent.cmd", "agent.exe", "agent.cmd", "agent.ps1"} {
		for _, folder := range path {
			if file := folder + `\` + name; m.executable(file) {
				s.addWindows(file, "")
			}
		}
	}
	if local := m.env("LOCALAPPDATA"); local != "" {
		s.addWindows(local+`\cursor-agent`, "")
	}
	return s.found, s.wrong
}

// search gathers candidates without repeating one.
type search struct {
	m         machine
	home      string
	path      []string // folders
	separator string
	addPath   func(path, named string) bool // adds what a path stands for, if anything

	found []command
	wrong []passedOver
}

// add adds a program and says whether it may be run.
func (s *search) add(c command) bool {
	if !s.m.executable(c.path) {
		return false
	}
	known := func(other command) bool { return other.path == c.path && slices.Equal(other.args, c.args) }
	if !slices.ContainsFunc(s.found, known) {
		s.found = append(s.found, c)
	}
	return true
}

// addUsers adds what the user named. A setting is all that counts then; the
// variables only come first.
func (s *search) addUsers(setting string) (only bool) {
	if setting != "" {
		s.addNamed(settingName, setting)
		return true
	}
	for _, variable := range userVariables() {
		if name := s.m.env(variable); name != "" {
			s.addNamed(variable, name)
		}
	}
	return false
}

// addNamed adds what a user's spelling can mean: a whole path, also from the home
// folder on, or for a bare name one in each folder of the PATH. Where that is
// nothing, it says why.
func (s *search) addNamed(named, spelling string) {
	name := spelling
	if rest, ok := strings.CutPrefix(name, "~"); ok && s.home != "" && (rest == "" || strings.ContainsAny(rest[:1], `/\`)) {
		name = s.home + rest
	}
	fail := func(what, why string) { s.wrong = append(s.wrong, passedOver{named, what, why}) }
	switch {
	case absolute(name, s.separator):
		if !s.addPath(name, named) {
			why := s.m.trouble(name)
			if why == "" {
				why = "Cursor's CLI is not in there"
			}
			fail(name, why)
		}
	case strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, "~"):
		fail(spelling, "it is not a whole path; begin it with "+s.begin())
	default:
		usable := false
		for _, folder := range s.path {
			usable = s.addPath(folder+s.separator+name, named) || usable
		}
		if !usable {
			fail(spelling, "no folder of the PATH holds such a program; give its whole path")
		}
	}
}

// begin is how whole paths begin.
func (s *search) begin() string {
	if s.separator == "/" {
		return "/ or ~/"
	}
	return `a drive, as in C:\, or with ~\`
}

// addAll prefers a better name in a later folder to a worse one in an earlier.
func (s *search) addAll(folders, names []string) {
	for _, name := range names {
		for _, folder := range folders {
			s.add(command{path: folder + "/" + name})
		}
	}
}

// addWindows adds what a path stands for: a program itself; for a script or a
// folder, the layout that the package's own scripts start.
func (s *search) addWindows(path, named string) bool {
	lower := strings.ToLower(path)
	switch {
	case strings.HasSuffix(lower, ".exe"):
		return s.add(command{path: path, named: named})
	case strings.HasSuffix(lower, ".cmd"), strings.HasSuffix(lower, ".ps1"), strings.HasSuffix(lower, ".bat"):
		return s.addWindowsFolder(path[:max(strings.LastIndexByte(path, '\\'), 0)], named)
	}
	return s.addWindowsFolder(path, named)
}

// addWindowsFolder runs node.exe with index.js of the newest version folder that
// is completely unpacked, as the package's scripts do, else the PowerShell one.
func (s *search) addWindowsFolder(folder, named string) bool {
	homes := []string{folder}
	for _, version := range newestFirst(s.m.list(folder + `\versions`)) {
		homes = append(homes, folder+`\versions\`+version)
	}
	for _, home := range homes {
		if s.m.executable(home+`\node.exe`) && s.m.executable(home+`\index.js`) {
			return s.add(command{
				path: home + `\node.exe`, args: []string{home + `\index.js`},
				env: []string{"CURSOR_INVOKED_AS=agent.cmd"}, named: named,
			})
		}
	}
	script := folder + `\cursor-agent.ps1`
	shell := s.m.env("SystemRoot") + `\System32\WindowsPowerShell\v1.0\powershell.exe`
	return s.m.executable(script) &&
		s.add(command{path: shell, args: []string{"-NoProfile", "-ExecutionPolicy", "Bypass", "-File", script}, named: named})
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
