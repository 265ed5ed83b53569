package tray

import (
	"fmt"
	"strings"

	"cursortray/app"
)

// modelSlots is how many rows for models there are. Hosts lose rows that come
// later, so all are made at the start and hidden.
const modelSlots = 200

// modelsMenu lists the models: each family, and below it the ids of its
// variants. A click copies the id; the mark is on the default model.
func modelsMenu(s app.Snapshot) Item {
	list := s.Models.List
	if list == nil {
		list = &app.ModelList{}
	}
	refresh := enabledIf(s.Account.State == app.LoggedIn, choice("models.refresh", modelsRefresh, app.Refresh{}))
	menu := submenu("models", menuModels, text("models.head", modelsTitle(s)), refresh)
	entries := modelEntries(list, modelSlots)
	for i := range modelSlots {
		slot := Item{Key: fmt.Sprintf("model.%d", i+1), Checkable: true, Hidden: true}
		if i < len(entries) {
			slot = entries[i]
			slot.Key = fmt.Sprintf("model.%d", i+1)
		}
		menu.Items = append(menu.Items, slot)
	}
	more := fmt.Sprintf(modelsMore, len(entries), list.IDs)
	menu.Items = append(menu.Items, hiddenIf(len(entries) >= list.IDs, choice("models.more", more, app.OpenDashboard{Page: "models"})))
	return menu
}

func modelsTitle(s app.Snapshot) string {
	m, in := s.Models, s.Account.State == app.LoggedIn || s.Account.State == app.NoAccount
	switch {
	case m.List != nil && m.Age != "" && m.PricesOf != "":
		return fmt.Sprintf(modelsBothOld, m.Age, m.PricesOf)
	case m.List != nil && m.Age != "":
		return fmt.Sprintf(modelsCopyOld, m.Age)
	case m.List != nil && m.PricesOf != "":
		return fmt.Sprintf(modelsPrices, m.PricesOf)
	case m.List != nil:
		return modelsCopy
	case m.Problem != nil && in && plain(m.Problem.Message) != "":
		return sentence(m.Problem.Message)
	case in:
		return modelsAsking
	default:
		return modelsOut
	}
}

// modelEntries makes at most n rows: every family, if there is room for that,
// and the variants of as many as have room, the first ones first.
func modelEntries(list *app.ModelList, n int) []Item {
	families := list.Families
	if len(families) > n {
		families = families[:n]
	}
	room := n - len(families)
	var rows []Item
	for _, f := range families {
		rows = append(rows, modelRow(f.ModelEntry, familyTitle(f)))
		if len(f.Variants) > room {
			continue
		}
		room -= len(f.Variants)
		for _, v := range f.Variants {
			rows = append(rows, modelRow(v, variantTitle(f, v)))
		}
	}
	return rows
}

func modelRow(m app.ModelEntry, title string) Item {
	row := choice("", title, app.CopyModel{ID: m.ID})
	row.Checkable, row.Checked = true, m.Default
	return row
}

// familyTitle is name, price per million tokens in and out, and window; what
// is not known is left out.
func familyTitle(f app.Family) string {
	window := size(f.Window)
	if f.MaxWindow > f.Window {
		window = fmt.Sprintf(modelsUpTo, window, size(f.MaxWindow))
	}
	name := f.Name
	if plain(name) == "" {
		name = f.ID
	}
	return figures(name, f.Price, window)
}

// variantTitle is the id, which says what the variant is, and what it has
// unlike its family.
func variantTitle(f app.Family, v app.ModelEntry) string {
	price, window := v.Price, size(v.Window)
	if price == f.Price {
		price = ""
	}
	if v.Window == f.Window {
		window = ""
	}
	return figures("· "+v.ID, price, window)
}

// figures shortens the name rather than what follows it.
func figures(name, price, window string) string {
	tail := ""
	for _, part := range []string{price, window} {
		if part != "" {
			tail += " - " + part
		}
	}
	return shorten(name, maxTitle-len([]rune(tail))) + tail
}

// size is a window of tokens: "200k", "1M", "" if it is not known.
func size(tokens int) string {
	switch {
	case tokens <= 0:
		return ""
	case tokens >= 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(tokens)/1e6), ".0") + "M"
	}
	return fmt.Sprintf("%dk", (tokens+500)/1000)
}
