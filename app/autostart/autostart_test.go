package autostart

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// formats are those whose entries are files; each is tested on every system.
var formats = map[string]format{"desktop entry": desktopEntry{}, "launch agent": launchAgent{}}

// oddPrograms are paths that break entries which are not quoted with care.
var oddPrograms = []string{
	"/usr/bin/cursortray",
	"/opt/My Tools/cursor tray",
	`/odd/a"b`, "/odd/a`b", "/odd/a$b", `/odd/a\b`, "/odd/100%/50%f", "/odd/a'b", "/odd/a&b<c>", "/odd/ä ö/日本",
}

func items(t *testing.T, program string) map[string]*Item {
	t.Helper()
	all := map[string]*Item{}
	for name, f := range formats {
		all[name] = &Item{program: program, at: file{filepath.Join(t.TempDir(), "not", "there", "entry"), f}}
	}
	return all
}

func (i *Item) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(i.at.where())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantState(t *testing.T, i *Item, on bool, program string) {
	t.Helper()
	state, err := i.State()
	if err != nil || state != (State{On: on, Program: program, Where: i.at.where()}) {
		t.Errorf("%+v, %v; want on %v, program %q", state, err, on, program)
	}
}

func TestOnOffOn(t *testing.T) {
	for _, program := range oddPrograms {
		for name, i := range items(t, program) {
			t.Run(name+" "+program, func(t *testing.T) {
				wantState(t, i, false, "")
				if err := i.Set(false); err != nil {
					t.Errorf("off where nothing is: %v", err)
				}
				for range 3 {
					if err := i.Set(true); err != nil {
						t.Fatal(err)
					}
					wantState(t, i, true, program)
				}
				if n := strings.Count(i.text(t), Flag); n != 1 {
					t.Errorf("%q stands in it %d times", Flag, n)
				}
				entries, err := os.ReadDir(filepath.Dir(i.at.where()))
				if err != nil || len(entries) != 1 {
					t.Errorf("%d entries, %v; want one", len(entries), err)
				}
				if err := i.Set(false); err != nil {
					t.Fatal(err)
				}
				wantState(t, i, false, "")
				if _, err := os.Stat(i.at.where()); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the entry is still there: %v", err)
				}
			})
		}
	}
}

// A moved binary: the entry follows, and where there is none, none is made.
func TestRenew(t *testing.T) {
	for name, old := range items(t, "/old/cursortray") {
		t.Run(name, func(t *testing.T) {
			moved := &Item{program: "/new/cursor tray", at: old.at}
			if changed, err := moved.Renew(); changed || err != nil {
				t.Errorf("without an entry: %v, %v", changed, err)
			}
			wantState(t, moved, false, "")
			if err := old.Set(true); err != nil {
				t.Fatal(err)
			}
			if changed, err := moved.Renew(); !changed || err != nil {
				t.Errorf("%v, %v", changed, err)
			}
			wantState(t, moved, true, "/new/cursor tray")
			if changed, err := moved.Renew(); changed || err != nil {
				t.Errorf("a second time: %v, %v", changed, err)
			}
		})
	}
}

func TestSwitchedOffElsewhere(t *testing.T) {
	tests := []struct{ name, format, text string }{
		{"hidden", "desktop entry", "[Desktop Entry]\nExec=/old/cursortray --autostart\nHidden=true\n"},
		{"disabled by the session's settings", "desktop entry", "[Desktop Entry]\r\nExec = \"/old/cursortray\"\r\nX-GNOME-Autostart-enabled = false\r\n"},
		{"disabled agent", "launch agent", "<plist><dict><key>Disabled</key><true/><key>ProgramArguments</key><array><string>/old/cursortray</string></array></dict></plist>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i := items(t, "/new/cursortray")[test.format]
			if err := os.MkdirAll(filepath.Dir(i.at.where()), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(i.at.where(), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			wantState(t, i, false, "/old/cursortray")
			if changed, err := i.Renew(); !changed || err != nil {
				t.Errorf("renewed: %v, %v", changed, err)
			}
			wantState(t, i, false, "/new/cursortray")
			if err := i.Set(true); err != nil {
				t.Fatal(err)
			}
			wantState(t, i, true, "/new/cursortray")
		})
	}
}

func TestEntriesAsUsersHaveThem(t *testing.T) {
	const text = "# mine\n[Desktop Entry]\nName=cursortray\nExec=/old/cursortray --autostart\nX-GNOME-Autostart-Delay=20\n[Desktop Action x]\nExec=/other\nHidden=true\n"
	moved, err := desktopEntry{}.move([]byte(text), []string{"/new/cursortray", Flag})
	if want := strings.Replace(text, "/old/cursortray", `"/new/cursortray"`, 1); err != nil || string(moved) != want {
		t.Errorf("%s\n%v", moved, err)
	}
	i := items(t, "/x")["desktop entry"]
	if err := i.at.(file).save([]byte("[Desktop Entry]\nHidden=true\n")); err != nil {
		t.Fatal(err)
	}
	wantState(t, i, false, "")
	if err := i.Set(true); err != nil {
		t.Fatal(err)
	}
	wantState(t, i, true, "/x")
}

func TestEntriesThatCannotBe(t *testing.T) {
	if _, err := (desktopEntry{}).encode([]string{"/a=b/cursortray", Flag}); err == nil {
		t.Error("a desktop entry with = in its path")
	}
	for name, i := range items(t, "/a\nb") {
		if err := i.Set(true); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s with a line break: %v", name, err)
		}
	}
	for _, text := range []string{"bplist00\x01", "<plist><dict><key>ProgramArguments</key>"} {
		if _, _, err := (launchAgent{}).parse([]byte(text)); err == nil {
			t.Errorf("%q is an agent", text)
		}
	}
	if _, _, err := (desktopEntry{}).parse([]byte("[Desktop Entry]\nExec=\"/a\n")); err == nil {
		t.Error("a command with one quotation mark")
	}
}

func TestExecValue(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/cursortray": `"/usr/bin/cursortray" --autostart`,
		`/a "b" $c\d`:         `"/a \\"b\\" \\$c\\\\d" --autostart`,
		"/100%":               `"/100%%" --autostart`,
	} {
		got, err := execValue([]string{program, Flag})
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", program, got, err, want)
		}
	}
}

func TestRunValue(t *testing.T) {
	for _, program := range []string{`C:\Program Files\cursortray\cursortrayw.exe`, `C:\x\cursortrayw.exe`} {
		line, err := runValue([]string{program, Flag})
		if err != nil || line != `"`+program+`" --autostart` || runProgram(line) != program {
			t.Errorf("%s, %v: %s", line, err, runProgram(line))
		}
	}
	if got := runProgram(`C:\My Tools\Cursortray.EXE --autostart`); got != `C:\My Tools\Cursortray.EXE` {
		t.Errorf("without quotation marks: %s", got)
	}
	if _, err := runValue([]string{`C:\` + strings.Repeat("x", 260), Flag}); err == nil {
		t.Error("a line that Windows would not start")
	}
	for value, want := range map[string]bool{"": true, "\x02\x00\x00": true, "\x03\x00\x00": false, "\x06": true, "\x01": false} {
		if approved([]byte(value)) != want {
			t.Errorf("StartupApproved %x: want on %v", value, want)
		}
	}
}

func FuzzSplitExec(f *testing.F) {
	for _, program := range oddPrograms {
		f.Add(program, "--a b")
	}
	f.Add("%", `\`)
	f.Fuzz(func(t *testing.T, program, arg string) {
		if _, err := splitExec(program); err == nil { // foreign text must not panic
			_, _ = splitExec(arg)
		}
		command := []string{program, arg}
		value, err := execValue(command)
		if err != nil {
			return
		}
		got, err := splitExec(value)
		if err != nil || !slices.Equal(got, command) {
			t.Errorf("%q became %q, %v (by %s)", command, got, err, value)
		}
	})
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte("[Desktop Entry]\nExec=/old/cursortray\nHidden=true\n"))
	f.Add([]byte("<plist><dict><key>Disabled</key><true/></dict></plist>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, format := range formats {
			_, was, err := format.parse(text)
			if err != nil || len(was) == 0 {
				continue
			}
			moved, err := format.move(text, []string{"/new/x"})
			if err != nil {
				continue
			}
			if _, is, err := format.parse(moved); err != nil || !slices.Equal(is[:1], []string{"/new/x"}) {
				t.Errorf("%s: %q became %q: %q, %v", name, text, moved, is, err)
			}
		}
	})
}
