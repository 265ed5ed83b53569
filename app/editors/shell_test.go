package editors

import (
	"os/exec"
	"strings"
	"testing"
)

var hostile = `a'b"c $HOME ` + "`id`" + ` \n \\ %PATH% ’‘ é;&|<>*?`

func TestShellQuoting(t *testing.T) {
	v := Var{"NAME", hostile}
	tests := map[string]string{
		posixLine(v):      `export NAME='a'\''b"c $HOME ` + "`id`" + ` \n \\ %PATH% ’‘ é;&|<>*?'`,
		fishLine(v):       `set -gx NAME 'a\'b"c $HOME ` + "`id`" + ` \\n \\\\ %PATH% ’‘ é;&|<>*?'`,
		powerShellLine(v): `$env:NAME = 'a''b"c $HOME ` + "`id`" + ` \n \\ %PATH% ’’‘‘ é;&|<>*?'`,
	}
	for got, want := range tests {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Whatever shells there are read the value that was meant.
func TestShellsReadTheValue(t *testing.T) {
	v := Var{"NAME", hostile}
	for _, shell := range []struct {
		program, line string
		args          []string
	}{
		{"sh", posixLine(v) + `; printf %s "$NAME"`, []string{"-c"}},
		{"bash", posixLine(v) + `; printf %s "$NAME"`, []string{"--norc", "-c"}},
		{"zsh", posixLine(v) + `; printf %s "$NAME"`, []string{"-f", "-c"}},
		{"fish", fishLine(v) + `; printf %s "$NAME"`, []string{"--no-config", "-c"}},
		{"pwsh", powerShellLine(v) + `; [Console]::Out.Write($env:NAME)`, []string{"-NoProfile", "-Command"}},
	} {
		program, err := exec.LookPath(shell.program)
		if err != nil {
			t.Logf("no %s here", shell.program)
			continue
		}
		out, err := exec.Command(program, append(shell.args, shell.line)...).Output()
		if err != nil || string(out) != hostile {
			t.Errorf("%s: %v, read %q", shell.program, err, out)
		}
	}
}

func TestSnippetsOfEnvironmentEditors(t *testing.T) {
	d := newDesk(t, nil)
	text, _, err := d.Snippet("copilot-cli", testSetup())
	if err != nil || len(text) != 4 {
		t.Fatal(text, err)
	}
	for i, want := range []string{
		"export COPILOT_PROVIDER_BASE_URL='http://127.0.0.1:7777/v1'\n",
		"export COPILOT_PROVIDER_API_KEY='local-key-1'\n",
		"set -gx COPILOT_MODEL 'sonnet-4.5'\n",
		"$env:COPILOT_OFFLINE = 'true'\n",
	} {
		if !strings.Contains(text[i].Text, want) {
			t.Errorf("%s lacks %s:\n%s", text[i].For, want, text[i].Text)
		}
	}
}
