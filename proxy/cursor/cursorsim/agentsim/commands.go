package agentsim

import (
	"fmt"
	"slices"
	"strings"
)

// The texts are those of the real program.
const (
	authText  = "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable."
	trustText = "⚠ Workspace Trust Required\n  To proceed, pass --trust"
	loginURL  = "https://cursor.com/loginDeepControl?challenge=simulated&uuid=simulated&mode=login"
	moveText  = "\x1b[2K\x1b[G" // cursor movement that status prints even into a pipe
)

// loggedIn says whether the run finds credentials the way the real program does:
// a key in the environment, else a login that belongs to the user's own home.
func (p *program) loggedIn() bool {
	switch {
	case p.env("CURSOR_API_KEY") != "":
		return true
	case p.script.LoggedOut:
		return false
	case p.script.Home != "" && p.env("HOME") != p.script.Home:
		return false
	case p.script.FileLogin && p.env("CURSOR_CONFIG_DIR") != "":
		return false
	}
	return true
}

func (p *program) status() int {
	if p.script.MuteStatus {
		hold()
	}
	if !p.loggedIn() {
		fmt.Fprintln(p.stdout, moveText+"Not logged in")
		return 0
	}
	fmt.Fprintln(p.stdout, moveText+"✓ Logged in as dev@example.com")
	return 0
}

func (p *program) login() int {
	if p.env("NO_OPEN_BROWSER") == "1" {
		// The real one breaks the address over lines.
		fmt.Fprintln(p.stdout, "Open this address to log in:")
		fmt.Fprintln(p.stdout, loginURL[:40])
		fmt.Fprintln(p.stdout, loginURL[40:])
	}
	return 0
}

// ids returns what the account may use.
func (p *program) ids() []string {
	if len(p.script.Models) > 0 {
		return p.script.Models
	}
	return []string{"auto", "composer-2", "gpt-5.3-codex", "sonnet-4.5-thinking"}
}

func (p *program) models() int {
	if !p.loggedIn() {
		fmt.Fprintln(p.stdout, "No models available for this account.")
		return 0
	}
	if p.script.ModelsText != "" || p.script.ModelsExit != 0 {
		fmt.Fprint(p.stdout, p.script.ModelsText)
		return p.script.ModelsExit
	}
	fmt.Fprint(p.stdout, "Available models\r\n\r\n")
	for i, id := range p.ids() {
		mark := ""
		if i == 0 {
			mark = " (current, default)"
		}
		fmt.Fprintf(p.stdout, "%s - %s%s\r\n", id, displayName(id), mark)
	}
	fmt.Fprint(p.stdout, "\r\nTip: use --model <id> to switch.\r\n")
	return 0
}

// displayName makes a name for people out of an id.
func displayName(id string) string {
	words := strings.Split(id, "-")
	for i, word := range words {
		if word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, " ")
}

// usable says whether the account may use a model.
func (p *program) usable(id string) bool {
	return slices.Contains(p.ids(), id)
}
