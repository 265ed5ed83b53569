package tray

import (
	"fmt"

	"cursortray/app"
)

// editorSlots is how many rows for editors there are.
const editorSlots = 28

// The states of an editor in a Snapshot.
const (
	stateSetUp   = "set up"
	stateChanged = "changed"
	stateBroken  = "broken"
	stateByHand  = "by hand"
)

// editorsMenu has a row for each editor, those that were found first. The mark is
// on those that may use the proxy.
func editorsMenu(s app.Snapshot) Item {
	var all []app.EditorStatus
	head := editorsNone
	if s.Editors != nil && len(s.Editors.All) > 0 {
		all, head = s.Editors.All, editorsClick
	}
	menu := submenu("editors", menuEditors, text("editors.head", head))
	for i := range editorSlots {
		key := fmt.Sprintf("editor.%d", i+1)
		slot := Item{Key: key, Checkable: true, Hidden: true}
		if i < len(all) {
			slot = editorRow(key, all[i])
		}
		menu.Items = append(menu.Items, slot)
	}
	menu.Items = append(menu.Items, undoRows(all)...)
	more := choice("editors.more", editorsMore, app.OpenDashboard{Page: "editors"})
	menu.Items = append(menu.Items, enabledIf(s.Proxy.State == app.Running, more))
	return menu
}

// undoRows take back what setting an editor up has done. They are rows of their
// own, so that no click on an editor can mean it.
func undoRows(all []app.EditorStatus) []Item {
	var rows []Item
	for _, e := range all {
		if len(rows) < editorSlots && (e.State == stateSetUp || e.State == stateChanged || e.Keyed) {
			key := fmt.Sprintf("editor.undo.%d", len(rows)+1)
			rows = append(rows, choice(key, fmt.Sprintf(editorUndo, editorName(e)), app.UndoEditor{ID: e.ID}))
		}
	}
	for len(rows) < editorSlots {
		rows = append(rows, Item{Key: fmt.Sprintf("editor.undo.%d", len(rows)+1), Hidden: true})
	}
	return rows
}

func editorName(e app.EditorStatus) string {
	if plain(e.Name) == "" {
		return e.ID
	}
	return e.Name
}

// editorRow sets an editor up, and later switches it off and on. What is rare is
// on the dashboard.
func editorRow(key string, e app.EditorStatus) Item {
	name := editorName(e)
	ready := e.State == stateSetUp || e.State == stateByHand && e.Keyed
	row := check(key, name, ready && !e.Off, app.SetUpEditor{ID: e.ID})
	switch {
	case e.Off:
		row.Title, row.Action = clip(fmt.Sprintf(editorOff, name)), app.SwitchEditor{ID: e.ID}
	case ready && e.Keyed:
		row.Action = app.SwitchEditor{ID: e.ID, Off: true}
		row.Title = clip(fmt.Sprintf(editorReady, name))
		if e.Runs > 0 {
			row.Title = clip(fmt.Sprintf(editorUsed, name, requests(e.Runs)))
		}
	case ready:
		row.Title = clip(fmt.Sprintf(editorReady, name))
	case e.State == stateChanged:
		row.Title = clip(fmt.Sprintf(editorChanged, name))
	case e.State == stateBroken:
		row.Title, row.Action = clip(fmt.Sprintf(editorBroken, name)), app.OpenDashboard{Page: "editors"}
	case e.State == stateByHand:
		row.Title = clip(fmt.Sprintf(editorByHand, name))
	case !e.Found:
		return enabledIf(false, check(key, fmt.Sprintf(editorMissing, name), false, nil))
	}
	return row
}
