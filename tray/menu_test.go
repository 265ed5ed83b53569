package tray

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cursortray/app"
	"cursortray/assets"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMenuGolden(t *testing.T) {
	wanted := make(map[string]bool)
	for name, s := range goldenStates() {
		wanted[name+".golden"] = true
		t.Run(name, func(t *testing.T) {
			got := fmt.Sprintf("icon:    %s\ntooltip: %s\n\n%s", icon(s), tooltip(s), picture(Menu(s), ""))
			file := filepath.Join("testdata", "menu", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("menu differs (-want +got); -update rewrites it:\n%s", d)
			}
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "menu"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !wanted[f.Name()] {
			t.Errorf("%s belongs to no state", f.Name())
		}
	}
}

// picture draws the menu as a user sees it: boxes before what can be checked, a
// mark behind submenus, and behind a row what a click on it asks for.
func picture(items []Item, indent string) string {
	var b strings.Builder
	for _, item := range items {
		if item.Separator {
			b.WriteString(indent + strings.Repeat("-", 40) + "\n")
		}
		if item.Separator || item.Hidden {
			continue
		}
		line := indent
		switch {
		case item.Checked:
			line += "[x] "
		case item.Checkable:
			line += "[ ] "
		}
		line += item.Title
		switch {
		case item.Items != nil:
			line += " >"
		case item.Action != nil:
			line += strings.Repeat(" ", max(1, 66-utf8.RuneCountInString(line))) + "-> " + strings.ReplaceAll(fmt.Sprintf("%T%+[1]v", item.Action), "app.", "")
		}
		b.WriteString(strings.TrimSuffix(line, "{}") + "\n" + picture(item.Items, indent+"    "))
	}
	return b.String()
}

func TestMenuKeepsTheRules(t *testing.T) {
	for name, s := range goldenStates() {
		if err := brokenRule(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 700 {
		s := randomSnapshot(rng)
		if err := brokenRule(s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
	}
}

// brokenRule names a rule of tray menus that the menu of s breaks.
func brokenRule(s app.Snapshot) error {
	keys := make(map[string]bool)
	if err := brokenLevel(Menu(s), 1, keys); err != nil {
		return err
	}
	if len(tooltip(s)) == 0 || len(utf16(tooltip(s))) > 127 {
		return fmt.Errorf("the tooltip %q has the wrong length", tooltip(s))
	}
	if title := Menu(s)[0].Title; (icon(s) == assets.Problem) != strings.HasPrefix(title, "! ") {
		return fmt.Errorf("the icon is %s and the first row %q", icon(s), title)
	}
	// Only a Cursor that does not answer, and a login that is not there yet or on
	// its way, are shown by something else than an alert.
	if icon(s) == assets.Running && len(s.Problems()) > 0 {
		return fmt.Errorf("the icon is %s with the problems %v", icon(s), s.Problems())
	}
	return nil
}

// brokenLevel looks at a menu or submenu.
func brokenLevel(items []Item, level int, keys map[string]bool) error {
	visible := 0
	for i, item := range items {
		if item.Key == "" || keys[item.Key] {
			return fmt.Errorf("the key %q is empty or taken", item.Key)
		}
		keys[item.Key] = true
		switch {
		case item.Separator && visible == 0:
			return fmt.Errorf("nothing is visible above %s", item.Key)
		case item.Separator:
			visible = 0
		case level > 1 && i == 0 && item.Hidden:
			return fmt.Errorf("the first row of a submenu, %s, is hidden", item.Key)
		case !item.Hidden:
			visible++
			if err := badTitle(item.Title); err != nil {
				return err
			}
		}
		if item.Items == nil && item.Enabled != (item.Action != nil) {
			return fmt.Errorf("%s: enabled is %v, but the action is %v", item.Key, item.Enabled, item.Action)
		}
		if item.Items == nil {
			continue
		}
		if level == 2 || item.Hidden {
			return fmt.Errorf("%s is a submenu in a submenu, or hidden", item.Key)
		}
		if err := brokenLevel(item.Items, level+1, keys); err != nil {
			return err
		}
	}
	if visible == 0 {
		return errors.New("nothing is visible in the last group")
	}
	return nil
}

func badTitle(title string) error {
	if title == "" || utf8.RuneCountInString(title) > 60 || strings.ContainsAny(title, "\t\n\r") || !utf8.ValidString(title) {
		return fmt.Errorf("bad title %q", title)
	}
	for _, r := range title {
		if r >= 0x1f000 {
			return fmt.Errorf("emoji in %q", title)
		}
	}
	return nil
}

func utf16(s string) []rune {
	var units []rune
	for _, r := range s {
		units = append(units, r)
		if r > 0xffff {
			units = append(units, r)
		}
	}
	return units
}

func TestMenuHasTheSameRowsInEveryState(t *testing.T) {
	shape := func(s app.Snapshot) (keys []string) {
		each(Menu(s), func(item Item) { keys = append(keys, item.Key) })
		return keys
	}
	want := shape(base())
	for name, s := range goldenStates() {
		if d := cmp.Diff(want, shape(s)); d != "" {
			t.Errorf("%s: rows differ:\n%s", name, d)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want []string
	}{
		{"", 3, nil},
		{"one", 3, []string{"one"}},
		{strings.Repeat("abcd ", 13), 3, []string{strings.TrimSpace(strings.Repeat("abcd ", 12)), "abcd"}},
		{strings.Repeat("abcd ", 30), 2, []string{
			strings.TrimSpace(strings.Repeat("abcd ", 12)),
			strings.Repeat("abcd ", 11) + "ab...",
		}},
		{"line\nbreak\tand \U0001f600 tab", 3, []string{"line break and tab"}},
	} {
		if d := cmp.Diff(c.want, wrap(c.in, c.n)); d != "" {
			t.Errorf("wrap(%q, %d):\n%s", c.in, c.n, d)
		}
	}
}

func FuzzClip(f *testing.F) {
	for _, s := range []string{"", "a", "\t", "\xff\xfe", strings.Repeat("日", 100), "a\u202eb", "\U0001f469\u200d\U0001f4bb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := clip(s); got != "" {
			if err := badTitle(got); err != nil {
				t.Error(err)
			}
		}
		for _, line := range wrap(s, 3) {
			if err := badTitle(clip(line)); err != nil && clip(line) != "" {
				t.Error(err)
			}
		}
	})
}
