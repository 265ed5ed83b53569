package tray

import (
	"fmt"

	"cursortray/app"
)

// defaultSlots is how many models there is room for in the choice of a default.
// What has no room is on the dashboard.
const defaultSlots = 64

// defaultModelMenu chooses the model of requests that name none. It is a menu of
// its own because a click on a model in the list of models copies its id.
func defaultModelMenu(s app.Snapshot) Item {
	var families []app.Family
	if list := s.Models.List; list != nil {
		families = list.Families
	}
	id, name := s.Models.Chosen, s.Models.Chosen
	if plain(id) == "" {
		id, name = "", defaultOpen
	}
	chosen := check("default.chosen", id, true, app.ChooseModel{ID: id})
	chosen.Hidden = id == ""
	rows := make([]Item, 0, defaultSlots)
	for _, f := range families {
		if len(rows) == defaultSlots || app.LeavesOpen(f.ID) {
			continue
		}
		if f.ID == id {
			chosen.Hidden = true
			if plain(f.Name) != "" {
				name = f.Name
			}
		}
		rows = append(rows, check(fmt.Sprintf("default.%d", len(rows)+1), familyTitle(f), f.ID == id, app.ChooseModel{ID: f.ID}))
	}
	for len(rows) < defaultSlots {
		rows = append(rows, Item{Key: fmt.Sprintf("default.%d", len(rows)+1), Checkable: true, Hidden: true})
	}
	top := []Item{
		text("default.head", defaultHead),
		check("default.auto", defaultAuto, id == "", app.ChooseModel{ID: "auto"}),
		chosen,
	}
	more := enabledIf(s.Proxy.State == app.Running, choice("default.more", defaultMore, app.OpenDashboard{Page: "models"}))
	return submenu("default", fmt.Sprintf(menuDefault, name), append(append(top, rows...), more)...)
}
