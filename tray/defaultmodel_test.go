package tray

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"cursortray/app"
)

// rowsBelow are the visible rows of the submenu with that key.
func rowsBelow(s app.Snapshot, key string) []Item {
	var rows []Item
	for _, item := range Menu(s) {
		if item.Key != key {
			continue
		}
		for _, row := range item.Items {
			if !row.Hidden {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// Whatever was chosen, one row has the mark, and a click on it chooses the same.
func TestOneModelIsTheDefault(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		s := randomSnapshot(rng)
		var marked []string
		for _, row := range rowsBelow(s, "default") {
			if row.Checked {
				marked = append(marked, row.Action.(app.ChooseModel).ID)
			}
		}
		want := s.Models.Chosen
		if plain(want) == "" {
			want = "auto"
		}
		for _, id := range marked {
			if id != want {
				t.Fatalf("chosen is %q, and the mark is on %q", want, id)
			}
		}
		if len(marked) == 0 {
			t.Fatalf("nothing has the mark; chosen is %q", want)
		}
	}
}

// More models than there are rows leave the chosen one in sight.
func TestDefaultModelBeyondTheRows(t *testing.T) {
	s := base()
	list := &app.ModelList{}
	for i := range defaultSlots + 20 {
		list.Families = append(list.Families, app.Family{ModelEntry: app.ModelEntry{ID: fmt.Sprintf("m%d", i), Name: fmt.Sprintf("Model %d", i)}})
	}
	last := list.Families[len(list.Families)-1]
	s.Models.List, s.Models.Chosen = list, last.ID
	rows := rowsBelow(s, "default")
	if row := rows[2]; row.Title != last.ID || !row.Checked {
		t.Errorf("the chosen model is shown as %+v", row)
	}
	if more := rows[len(rows)-1]; more.Action != (app.OpenDashboard{Page: "models"}) {
		t.Errorf("the last row is %+v", more)
	}
}

// Who undoes, undoes what that row names, and only what there is to undo.
func TestUndoRows(t *testing.T) {
	s := base()
	s.Editors = &app.EditorList{All: []app.EditorStatus{
		{ID: "a", Name: "Alpha", Found: true, State: stateSetUp, Keyed: true},
		{ID: "b", Name: "Beta", Found: true, State: "not set up"},
		{ID: "c", Found: true, State: stateChanged},
		{ID: "d", Name: "Delta", State: stateByHand},
		{ID: "e", Name: "Epsilon", State: stateByHand, Keyed: true, Off: true},
	}}
	var got []string
	for _, row := range rowsBelow(s, "editors") {
		if undo, ok := row.Action.(app.UndoEditor); ok {
			got = append(got, row.Title+"="+undo.ID)
		}
	}
	if want := "Undo Alpha=a Undo c=c Undo Epsilon=e"; strings.Join(got, " ") != want {
		t.Errorf("the rows are %q, not %q", strings.Join(got, " "), want)
	}
}
