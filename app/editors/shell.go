package editors

import "strings"

// shells are the shells that snippets are written for, with the file that each
// reads at its start.
func shells() []struct {
	name, file string
	line       func(Var) string
} {
	return []struct {
		name, file string
		line       func(Var) string
	}{
		{"bash", "~/.bashrc", posixLine},
		{"zsh", "~/.zshrc", posixLine},
		{"fish", "~/.config/fish/config.fish", fishLine},
		{"PowerShell", "$PROFILE", powerShellLine},
	}
}

func posixLine(v Var) string {
	return "export " + v.Name + "='" + strings.ReplaceAll(v.Value, "'", `'\''`) + "'"
}

func fishLine(v Var) string {
	return "set -gx " + v.Name + " '" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(v.Value) + "'"
}

// powerShellLine doubles quotes. PowerShell takes typographic ones for quotes,
// too.
func powerShellLine(v Var) string {
	double := strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛")
	return "$env:" + v.Name + " = '" + double.Replace(v.Value) + "'"
}
