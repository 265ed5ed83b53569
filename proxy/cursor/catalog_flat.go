package cursor

import (
	"slices"
	"strings"
)

// usableSet holds the ids that an account may run; it is empty if they are not
// known.
type usableSet map[string]bool

func newUsableSet(rows []usableRow) usableSet {
	set := usableSet{}
	for _, r := range rows {
		set[r.ID] = true
		set[r.DisplayID] = true
	}
	delete(set, "")
	return set
}

// addFlat adds the ids of the usable list that no variant stands for: as
// variants of the model that they name, or of a model of their own. If
// AvailableModels gave nothing, these are all there is. Such an id says all by
// itself and is sent without parameters.
func (c *Catalog) addFlat(lists modelLists) {
	taken := map[string]bool{}
	byName := map[string]*Entry{}
	for i := range lists.Available {
		row := &lists.Available[i]
		for _, name := range append([]string{row.Name}, row.Aliases...) {
			taken[name] = true
		}
		for _, v := range row.Variants {
			taken[v.Slug] = true
		}
	}
	for _, e := range c.entries {
		for _, name := range append([]string{e.ID}, e.Aliases...) {
			byName[name] = e
		}
	}
	var changed []*Entry
	for _, row := range lists.Usable {
		if taken[row.ID] || row.DisplayID != "" && taken[row.DisplayID] || isLeftOut(row.ID) {
			continue
		}
		base, want := c.splitSlug(row.ID, byName)
		e := byName[base]
		if e == nil {
			if taken[base] {
				continue // of a hidden model
			}
			e = newFlatEntry(base, c.cfg.Prices)
			byName[base] = e
			c.entries = append(c.entries, e)
		}
		e.addFlat(row, want)
		if !slices.Contains(changed, e) {
			changed = append(changed, e)
		}
	}
	for _, e := range changed {
		e.finishFlat()
	}
}

// splitSlug cuts an id into its model and the settings in its end. The whole id
// comes first: "fast" and "max" can belong to a name.
func (c *Catalog) splitSlug(id string, byName map[string]*Entry) (base string, want wish) {
	rest := id
	var cut suffixes
	for {
		if e := byName[rest]; e != nil {
			return e.ID, cut.want
		}
		if figures, ok := c.cfg.Prices.Figures(strings.ToLower(rest)); ok {
			if figures.PriceOnly {
				return rest, cut.want
			}
			return figures.ID, cut.want
		}
		if !cut.next(&rest) {
			return rest, cut.want
		}
	}
}

func newFlatEntry(base string, prices PriceTable) *Entry {
	e := &Entry{ID: base}
	figures := e.lookUp(prices)
	e.Window = firstOf(figures.Window, usualWindow)
	e.Images = figures.Images
	return e
}

func (e *Entry) addFlat(row usableRow, want wish) {
	v := Variant{
		Slug: row.ID, Label: row.Label, Max: row.Max,
		Effort: want.effort, Thinking: want.thinking, Fast: want.fast, Window: want.window,
		flat: true,
	}
	// The usable list has no windows; an id or a name may tell.
	if v.Window == 0 && slices.Contains(strings.Fields(strings.ToLower(row.Label)), "1m") {
		v.Window = 1_000_000
	}
	e.Variants = append(e.Variants, v)
	e.Reasoning = e.Reasoning || row.Thinking
	if e.Label == "" || row.ID == e.ID || slices.Contains(row.Aliases, e.ID) {
		e.normal = v.wish()
		e.most = e.normal
		e.Label = flatLabel(row)
	}
}

// flatLabel is a model's name made from that of its usual variant.
func flatLabel(row usableRow) string {
	label := row.Label
	for _, setting := range []string{" Fast", " Thinking"} {
		label = strings.TrimSuffix(label, setting)
	}
	if label == "" {
		return row.ID
	}
	return label
}

// finishFlat notes what an id without a suffix means: "off", if there is
// another one with it.
func (e *Entry) finishFlat() {
	for _, v := range e.Variants {
		if v.Window > max(e.Window, e.MaxWindow) {
			e.MaxWindow = v.Window
		}
	}
	off := func(of func(*Variant) *Switch) {
		exists := slices.ContainsFunc(e.Variants, func(v Variant) bool { return *of(&v) == On })
		for i := range e.Variants {
			if s := of(&e.Variants[i]); exists && *s == NoSwitch && e.Variants[i].flat {
				*s = Off
			}
		}
	}
	off(func(v *Variant) *Switch { return &v.Fast })
	off(func(v *Variant) *Switch { return &v.Thinking })
	if e.normal.thinking == NoSwitch && e.thinks() {
		e.normal.thinking, e.most.thinking = Off, Off
	}
	tagVariants(e.Variants)
}
