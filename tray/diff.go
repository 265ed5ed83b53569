package tray

// change is what has to be done to one row that was built before.
type change struct {
	item Item // as it shall be
	// What differs. A row that appears has all of it, because a hidden row is
	// not kept up to date: on Windows any update would show it again.
	title, enabled, checked, hidden bool
}

// diff returns the changes from one menu to another. Both have the same rows.
func diff(old, new []Item) []change {
	var changes []change
	before := make(map[string]Item)
	each(old, func(item Item) { before[item.Key] = item })
	each(new, func(item Item) {
		was := before[item.Key]
		appears := was.Hidden && !item.Hidden
		c := change{
			item:    item,
			title:   appears || was.Title != item.Title,
			enabled: appears || was.Enabled != item.Enabled,
			checked: item.Checkable && (appears || was.Checked != item.Checked),
			hidden:  was.Hidden != item.Hidden,
		}
		if item.Hidden {
			c.title, c.enabled, c.checked = false, false, false
		}
		if c.title || c.enabled || c.checked || c.hidden {
			changes = append(changes, c)
		}
	})
	return changes
}

// each calls f for every row, submenus included, in the order of the menu.
func each(items []Item, f func(Item)) {
	for _, item := range items {
		f(item)
		each(item.Items, f)
	}
}

// patched is items with the changes made.
func patched(items []Item, changes []change) []Item {
	made := make(map[string]Item, len(changes))
	for _, c := range changes {
		made[c.item.Key] = c.item
	}
	var patch func([]Item) []Item
	patch = func(items []Item) []Item {
		out := make([]Item, len(items))
		for i, item := range items {
			rows := item.Items
			if changed, ok := made[item.Key]; ok {
				item = changed
			}
			if item.Items = nil; rows != nil {
				item.Items = patch(rows)
			}
			out[i] = item
		}
		return out
	}
	return patch(items)
}
