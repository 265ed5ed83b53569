package editors

import "strings"

// OS is an operating system, spelled like GOOS.
type OS string

// The systems with desktops that cursortray runs on.
const (
	Linux   OS = "linux"
	MacOS   OS = "darwin"
	Windows OS = "windows"
)

// Env is where things are for one user on one machine. All paths come from it
// and nothing else, so the tables of all systems are tested on any.
type Env struct {
	OS   OS
	Home string
	Get  func(name string) string // an environment variable, "" when not set
}

func (e Env) join(parts ...string) string {
	sep := "/"
	if e.OS == Windows {
		sep = `\`
	}
	return strings.Join(parts, sep)
}

// home is a path in the user's home folder.
func (e Env) home(parts ...string) string {
	return e.join(append([]string{e.Home}, parts...)...)
}

// folder is a folder that a variable may move. A relative one is none: it would
// lead elsewhere from each folder, and so would an undo.
func (e Env) folder(variable, otherwise string) string {
	if dir := e.Get(variable); e.absolute(dir) {
		return dir
	}
	return otherwise
}

func (e Env) absolute(path string) bool {
	if e.OS == Windows {
		return strings.HasPrefix(path, `\\`) || len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	}
	return strings.HasPrefix(path, "/")
}

// dotConfig is ~/.config, which many command line programs use on all systems.
func (e Env) dotConfig(parts ...string) string {
	return e.join(append([]string{e.folder("XDG_CONFIG_HOME", e.home(".config"))}, parts...)...)
}

// appConfig is where the system wants programs to keep their settings.
func (e Env) appConfig(parts ...string) string {
	switch e.OS {
	case MacOS:
		return e.home(append([]string{"Library", "Application Support"}, parts...)...)
	case Windows:
		return e.join(append([]string{e.folder("APPDATA", e.home("AppData", "Roaming"))}, parts...)...)
	default:
		return e.dotConfig(parts...)
	}
}

// extension lists where VS Code and its relatives keep an extension.
func (e Env) extension(name string) []string {
	var list []string
	for _, dir := range []string{".vscode", ".vscode-insiders", ".vscode-oss", ".vscode-server", ".cursor", ".windsurf"} {
		list = append(list, e.home(dir, "extensions", name+"-*"))
	}
	return list
}
