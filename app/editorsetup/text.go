package editorsetup

import (
	"fmt"
	"slices"
	"strings"

	"cursortray/app/editors"
)

// Shells are the names that a shell's snippet can be asked for by.
var shells = []struct{ name, title string }{
	{"bash", "bash"}, {"zsh", "zsh"}, {"fish", "fish"}, {"powershell", "PowerShell"}, {"pwsh", "PowerShell"},
}

// ShellOf returns the shell that snippets are written for, of a program's path
// or name; "" if it is none of them.
func ShellOf(program string) string {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	name = strings.TrimSuffix(name, ".exe")
	for _, s := range shells {
		if s.name == name {
			return s.title
		}
	}
	return ""
}

// isShell tells a snippet for a shell from one for a file.
func isShell(s editors.Snippet) bool { return s.For != s.File }

// HandText is what to write where and what to do, as a text for the user. Of
// the shells only the one named is in it, or all if shell is "".
func (r Result) HandText(shell string) string {
	var parts []string
	for _, s := range r.Text {
		switch {
		case !isShell(s):
			parts = append(parts, "In "+s.File+":\n\n"+s.Text)
		case shell == "" || s.For == shell:
			parts = append(parts, "In "+s.File+" ("+s.For+"):\n\n"+s.Text)
		}
	}
	if len(r.Steps) > 0 {
		parts = append(parts, stepList(r.Steps))
	}
	return strings.Join(parts, "\n")
}

// stepList is a list of what to do.
func stepList(steps []string) string {
	var text strings.Builder
	for _, step := range steps {
		text.WriteString("- " + step + "\n")
	}
	return text.String()
}

// Told is what a set-up has come to, in lines for the user.
func (r Result) Told(shell string) string {
	var text strings.Builder
	switch {
	case r.ByHand:
		fmt.Fprintf(&text, "%s takes its settings from you:\n", r.Name)
	case r.Same:
		fmt.Fprintf(&text, "%s is set up already; nothing was changed.\n", r.Name)
	default:
		fmt.Fprintf(&text, "%s is set up, with %s.\n", r.Name, r.Model)
	}
	for _, f := range r.Files {
		text.WriteString(f.line() + "\n")
	}
	if r.ByHand {
		return text.String() + r.HandText(shell)
	}
	only := r
	only.Text = slices.DeleteFunc(slices.Clone(r.Text), func(s editors.Snippet) bool { return !isShell(s) })
	if rest := only.HandText(shell); rest != "" {
		text.WriteString("What is left for you:\n" + rest)
	}
	return text.String()
}

// Undone is what an undo has come to.
func (r Result) Undone() string {
	if r.ByHand {
		return r.Name + "'s key is worth nothing any more; take cursortray out of its settings yourself.\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s; its key is worth nothing any more.\n", r.restored())
	for _, f := range r.Files {
		text.WriteString(f.line() + "\n")
	}
	return text.String()
}

// restored says what the editor is like after an undo.
func (r Result) restored() string {
	if slices.ContainsFunc(r.Files, func(f File) bool { return f.Edited }) {
		return "cursortray is taken out of " + r.Name + ", and what you have changed since stays"
	}
	return r.Name + " is as it was"
}

func (f File) line() string {
	switch {
	case f.Removed:
		return "  removed " + f.Path
	case f.Backup != "":
		return "  wrote " + f.Path + " (backup: " + f.Backup + ")"
	}
	return "  wrote " + f.Path
}
