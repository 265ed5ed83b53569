package traytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

const menuName = "com.canonical.dbusmenu"

// Item is an icon in the tray.
type Item struct {
	conn *dbus.Conn
	name string
	path dbus.ObjectPath
}

// Row is one row of a menu, as a host shows it.
type Row struct {
	ID        int32
	Label     string // without the doubling of marks
	Enabled   bool
	Checked   bool
	Visible   bool
	Separator bool
	Rows      []Row
}

func (i *Item) property(name string) (dbus.Variant, error) {
	return i.conn.Object(i.name, i.path).GetProperty(itemName + "." + name)
}

// Text returns a property that is a string.
func (i *Item) Text(t testing.TB, name string) string {
	t.Helper()
	v, err := i.property(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s, _ := v.Value().(string)
	return s
}

// ToolTip returns the text beside the icon.
func (i *Item) ToolTip(t testing.TB) string {
	t.Helper()
	v, err := i.property("ToolTip")
	if err != nil {
		t.Fatalf("ToolTip: %v", err)
	}
	var tip struct {
		Icon        string
		Pixmaps     []pixmap
		Title, Text string
	}
	if err := dbus.Store([]any{v.Value()}, &tip); err != nil {
		t.Fatalf("ToolTip: %v", err)
	}
	return tip.Title
}

type pixmap struct {
	W, H int32
	Pix  []byte
}

// Icon returns the width, the height and the pixels of the icon.
func (i *Item) Icon(t testing.TB) (w, h int, pixels string) {
	t.Helper()
	v, err := i.property("IconPixmap")
	if err != nil {
		t.Fatalf("IconPixmap: %v", err)
	}
	var maps []pixmap
	if err := dbus.Store([]any{v.Value()}, &maps); err != nil || len(maps) == 0 {
		t.Fatalf("IconPixmap: %v, %d pictures", err, len(maps))
	}
	return int(maps[0].W), int(maps[0].H), string(maps[0].Pix)
}

// Menu returns the rows. It asks twice: the tray library answers the first
// request with the top level alone.
func (i *Item) Menu() ([]Row, error) {
	v, err := i.property("Menu")
	if err != nil {
		return nil, err
	}
	path, ok := v.Value().(dbus.ObjectPath)
	if !ok {
		return nil, fmt.Errorf("the menu's path is a %T", v.Value())
	}
	var root layout
	for range 2 {
		var revision uint32
		call := i.conn.Object(i.name, path).Call(menuName+".GetLayout", 0, int32(0), int32(-1), []string{})
		root = layout{}
		if err := call.Store(&revision, &root); err != nil {
			return nil, err
		}
	}
	row, err := root.row()
	return row.Rows, err
}

type layout struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

func (l layout) row() (Row, error) {
	r := Row{ID: l.ID, Enabled: true, Visible: true}
	for name, v := range l.Props {
		switch name {
		case "label":
			text, _ := v.Value().(string)
			r.Label = strings.ReplaceAll(text, "__", "_")
		case "enabled":
			r.Enabled, _ = v.Value().(bool)
		case "visible":
			r.Visible, _ = v.Value().(bool)
		case "toggle-state":
			state, _ := v.Value().(int32)
			r.Checked = state == 1
		case "type":
			r.Separator = v.Value() == "separator"
		}
	}
	for _, v := range l.Children {
		var child layout
		if err := dbus.Store([]any{v.Value()}, &child); err != nil {
			return r, err
		}
		row, err := child.row()
		if err != nil {
			return r, err
		}
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}

// Labels are the visible rows from top to bottom, with "-" for a line.
func Labels(rows []Row) []string {
	var all []string
	for _, r := range rows {
		switch {
		case r.Separator:
			all = append(all, "-")
		case r.Visible:
			all = append(all, r.Label)
			all = append(all, Labels(r.Rows)...)
		}
	}
	return all
}

// Find waits for a visible row whose label starts with text, also in submenus.
// "Copy/API key" is that row in the submenu whose label starts with "Copy".
func (i *Item) Find(t testing.TB, text string) Row {
	t.Helper()
	var found Row
	Until(t, fmt.Sprintf("the menu has %q", text), func() bool {
		rows, err := i.Menu()
		if err != nil {
			return false
		}
		var ok bool
		found, ok = find(rows, text)
		return ok
	})
	return found
}

func find(rows []Row, text string) (Row, bool) {
	menu, inside, nested := strings.Cut(text, "/")
	for _, r := range rows {
		if nested && r.Visible && len(r.Rows) > 0 && strings.HasPrefix(r.Label, menu) {
			return starts(r.Rows, inside)
		}
	}
	return starts(rows, text)
}

// starts prefers rows further out.
func starts(rows []Row, text string) (Row, bool) {
	for _, r := range rows {
		if r.Visible && strings.HasPrefix(r.Label, text) {
			return r, true
		}
	}
	for _, r := range rows {
		if found, ok := starts(r.Rows, text); r.Visible && ok {
			return found, true
		}
	}
	return Row{}, false
}

// Click chooses the row whose label starts with text, when it can be chosen.
func (i *Item) Click(t testing.TB, text string) {
	t.Helper()
	var row Row
	Until(t, fmt.Sprintf("%q can be chosen", text), func() bool {
		row = i.Find(t, text)
		return row.Enabled
	})
	menu, err := i.property("Menu")
	if err != nil {
		t.Fatal(err)
	}
	path, _ := menu.Value().(dbus.ObjectPath)
	call := i.conn.Object(i.name, path).Call(menuName+".Event", 0, row.ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
	// A program that was told to quit may be gone before it answers.
	var answer dbus.Error
	if gone := errors.As(call.Err, &answer) && answer.Name == "org.freedesktop.DBus.Error.NoReply"; call.Err != nil && !gone {
		t.Fatalf("click %q: %v", text, call.Err)
	}
}
