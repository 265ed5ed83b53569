package agentcli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// paper is a machine that exists on paper only.
func paper(env map[string]string, separator string, files ...string) machine {
	return machine{
		env: func(name string) string { return env[name] },
		trouble: func(path string) string {
			if slices.Contains(files, path) {
				return ""
			}
			return "missing"
		},
		list: func(folder string) []string {
			var names []string
			for _, file := range files {
				rest, inside := strings.CutPrefix(file, folder+separator)
				if name, _, _ := strings.Cut(rest, separator); inside && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			return names
		},
	}
}

// spelled shows candidates as command lines.
func spelled(list []command) []string {
	var lines []string
	for _, c := range list {
		line := strings.Join(append([]string{c.path}, c.args...), " ")
		if c.named != "" {
			line += " (chosen)"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestUnixCandidates(t *testing.T) {
	shell := map[string]string{"HOME": "/home/dev", "PATH": "/opt/a:relative::/opt/b"}
	desktop := map[string]string{"HOME": "/home/dev", "PATH": "/usr/bin"}
	mac := map[string]string{"HOME": "/Users/dev", "PATH": "/usr/bin:/bin"}
	versions := "/home/dev/.local/share/cursor-agent/versions/"
	for _, tt := range []struct {
		name    string
		env     map[string]string
		setting string
		files   []string
		want    []string
	}{
		{"the older name in a later folder wins", shell, "", []string{"/opt/a/agent", "/opt/b/cursor-agent"}, []string{"/opt/b/cursor-agent", "/opt/a/agent"}},
		{"relative folders do not count", shell, "", []string{"relative/cursor-agent", "/cursor-agent"}, nil},
		{"link of the installer", desktop, "", []string{"/home/dev/.local/bin/agent"}, []string{"/home/dev/.local/bin/agent"}},
		{
			"newest version first", desktop, "",
			[]string{versions + "2025.08.01-ffffff0/cursor-agent", versions + "2026.07.20-0aaa/cursor-agent", versions + "2026.07.20-10-31-00-0bbb/cursor-agent", versions + "tmp/cursor-agent"},
			[]string{versions + "2026.07.20-10-31-00-0bbb/cursor-agent", versions + "2026.07.20-0aaa/cursor-agent", versions + "2025.08.01-ffffff0/cursor-agent"},
		},
		{"places without a PATH", mac, "", []string{"/opt/homebrew/bin/cursor-agent", "/usr/local/bin/agent", "/Users/dev/.cursor/bin/agent"}, []string{
			"/opt/homebrew/bin/cursor-agent", "/Users/dev/.cursor/bin/agent", "/usr/local/bin/agent",
		}},
		{"the editor's launcher", mac, "", []string{"/usr/local/bin/cursor"}, []string{"/usr/local/bin/cursor agent"}},
		{"the setting is all there is", shell, "/x/my-agent", []string{"/x/my-agent", "/opt/a/cursor-agent"}, []string{"/x/my-agent (chosen)"}},
		{"a bare name in the setting", shell, "my-agent", []string{"/opt/b/my-agent"}, []string{"/opt/b/my-agent (chosen)"}},
		{"a setting in the home folder", shell, "~/my-agent", []string{"/home/dev/my-agent", "/opt/a/cursor-agent"}, []string{"/home/dev/my-agent (chosen)"}},
		{"a missing setting is not replaced", shell, "/x/gone", []string{"/opt/a/cursor-agent"}, nil},
		{
			"a variable comes before the PATH", map[string]string{"HOME": "/h", "PATH": "/opt/a", "CURSOR_AGENT_EXECUTABLE": "/y/agent"}, "",
			[]string{"/opt/a/cursor-agent", "/y/agent"}, []string{"/y/agent (chosen)", "/opt/a/cursor-agent"},
		},
		{"nothing", desktop, "", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, _ := unixCandidates(paper(tt.env, "/", tt.files...), tt.setting)
			got := spelled(list)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWindowsCandidates(t *testing.T) {
	env := map[string]string{
		"PATH": `C:\tools;relative;C:\Users\dev\AppData\Local\cursor-agent`, "LOCALAPPDATA": `C:\Users\dev\AppData\Local`, "SystemRoot": `C:\Windows`,
	}
	home := `C:\Users\dev\AppData\Local\cursor-agent`
	node := func(version string) []string {
		return []string{home + `\versions\` + version + `\node.exe`, home + `\versions\` + version + `\index.js`}
	}
	shell := `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
	for _, tt := range []struct {
		name    string
		setting string
		files   []string
		want    []string
	}{
		{"newest version that is whole", "", slices.Concat(node("2026.07.20-8cc9c0b"), node("2026.08.01-10-00-00-0aaa"), []string{home + `\versions\2026.09.01-0bbb\node.exe`}), []string{
			home + `\versions\2026.08.01-10-00-00-0aaa\node.exe ` + home + `\versions\2026.08.01-10-00-00-0aaa\index.js`,
		}},
		{"the script on the PATH stands for its folder", "", append(node("2026.07.20-8cc9c0b"), home+`\cursor-agent.cmd`), []string{
			home + `\versions\2026.07.20-8cc9c0b\node.exe ` + home + `\versions\2026.07.20-8cc9c0b\index.js`,
		}},
		{"a program on the PATH", "", []string{`C:\tools\cursor-agent.exe`, `C:\tools\agent.exe`}, []string{`C:\tools\cursor-agent.exe`, `C:\tools\agent.exe`}},
		{"only the PowerShell script", "", []string{home + `\cursor-agent.ps1`, shell}, []string{shell + ` -NoProfile -ExecutionPolicy Bypass -File ` + home + `\cursor-agent.ps1`}},
		{"a command file alone is never run", "", []string{`C:\tools\cursor-agent.cmd`}, nil},
		{"a command file in the setting", home + `\cursor-agent.cmd`, node("2026.07.20-8cc9c0b"), []string{
			home + `\versions\2026.07.20-8cc9c0b\node.exe ` + home + `\versions\2026.07.20-8cc9c0b\index.js (chosen)`,
		}},
		{"a version folder in the setting", home + `\versions\2026.07.20-8cc9c0b`, node("2026.07.20-8cc9c0b"), []string{
			home + `\versions\2026.07.20-8cc9c0b\node.exe ` + home + `\versions\2026.07.20-8cc9c0b\index.js (chosen)`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, _ := windowsCandidates(paper(env, `\`, tt.files...), tt.setting)
			if diff := cmp.Diff(tt.want, spelled(list)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
			for _, c := range list {
				if strings.HasSuffix(c.path, "node.exe") != slices.Contains(c.env, "CURSOR_INVOKED_AS=agent.cmd") {
					t.Errorf("%s has the environment %v", c.path, c.env)
				}
			}
		})
	}
}

// TestNamedInVain: what the user named and cannot be used is told with the reason.
func TestNamedInVain(t *testing.T) {
	unix := map[string]string{"HOME": "/home/dev", "PATH": "/opt/a:/opt/b"}
	variable := map[string]string{"HOME": "/home/dev", "PATH": "/opt/a", "CURSOR_AGENT_BIN": "~/gone", "CURSOR_AGENT_PATH": "/opt/a/agent"}
	windows := map[string]string{"USERPROFILE": `C:\Users\dev`, "PATH": `C:\tools`, "LOCALAPPDATA": `C:\Users\dev\AppData\Local`}
	for _, tt := range []struct {
		env     map[string]string
		setting string
		want    []passedOver
	}{
		{unix, "/x/gone", []passedOver{{"cursor_agent", "/x/gone", "missing"}}},
		{unix, "~/gone", []passedOver{{"cursor_agent", "/home/dev/gone", "missing"}}},
		{unix, "~ann/agent", []passedOver{{"cursor_agent", "~ann/agent", "it is not a whole path; begin it with / or ~/"}}},
		{unix, "./agent", []passedOver{{"cursor_agent", "./agent", "it is not a whole path; begin it with / or ~/"}}},
		{unix, "bin/agent", []passedOver{{"cursor_agent", "bin/agent", "it is not a whole path; begin it with / or ~/"}}},
		{unix, "other", []passedOver{{"cursor_agent", "other", "no folder of the PATH holds such a program; give its whole path"}}},
		{unix, "agent", nil},
		{unix, "", nil},
		{variable, "", []passedOver{{"CURSOR_AGENT_BIN", "/home/dev/gone", "missing"}}},
		{windows, `~\gone.exe`, []passedOver{{"cursor_agent", `C:\Users\dev\gone.exe`, "missing"}}},
		{windows, `bin\agent.exe`, []passedOver{{"cursor_agent", `bin\agent.exe`, `it is not a whole path; begin it with a drive, as in C:\, or with ~\`}}},
		{windows, `C:\empty`, []passedOver{{"cursor_agent", `C:\empty`, "missing"}}},
	} {
		find, separator := unixCandidates, "/"
		if tt.env["USERPROFILE"] != "" {
			find, separator = windowsCandidates, `\`
		}
		_, got := find(paper(tt.env, separator, "/opt/a/agent"), tt.setting)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(passedOver{})); diff != "" {
			t.Errorf("setting %q (-want +got):\n%s", tt.setting, diff)
		}
	}
}
