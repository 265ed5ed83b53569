package agentcli

import (
	"regexp"
	"strings"
	"sync"
)

// environment is what children get. The home folder and everything else through
// which the CLI finds the user's login stays as it is: with another HOME it says
// at once that nobody is logged in.
type environment struct {
	vars   []string
	hasKey bool // CURSOR_API_KEY is set, so no stored login is needed
}

// placeholderKey matches what people leave in CURSOR_API_KEY when they copy an
// example; the CLI would take it for a key and refuse to run.
var placeholderKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^$|\s|^<|^\$|^(your|my|the)[-_]|^x+$|^\.+$|^(none|null|undefined|changeme|placeholder|dummy|test)$|api[-_]?key|placeholder`)
})

// newEnvironment leaves out what a child must not see: NODE_OPTIONS reaches the
// Node inside the CLI, and our own settings hold the local key.
func newEnvironment(environ []string) environment {
	var e environment
	for _, element := range environ {
		name, value, _ := strings.Cut(element, "=")
		switch name = strings.ToUpper(name); {
		case name == "NODE_OPTIONS", strings.HasPrefix(name, "CURSORTRAY_"):
			continue
		case name == "CURSOR_API_KEY":
			if placeholderKey().MatchString(value) {
				continue
			}
			e.hasKey = true
		}
		e.vars = append(e.vars, element)
	}
	return e
}

// withConfig returns the variables with the CLI's settings folder moved, or as
// they are for "".
func (e environment) withConfig(folder string) []string {
	if folder == "" {
		return e.vars
	}
	return e.with("CURSOR_CONFIG_DIR=" + folder)
}

// with returns the variables and one more, which wins.
func (e environment) with(element string) []string {
	return append(e.vars[:len(e.vars):len(e.vars)], element)
}

// lookup returns a variable as os.Getenv would.
func (e environment) lookup(name string) string {
	for i := len(e.vars) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(e.vars[i], "="); ok && (key == name || foldNames && strings.EqualFold(key, name)) {
			return value
		}
	}
	return ""
}

// secrets are the values that no message may show.
func (e environment) secrets() []string {
	var secrets []string
	for _, name := range []string{"CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"} {
		if value := e.lookup(name); value != "" {
			secrets = append(secrets, value)
		}
	}
	return secrets
}
