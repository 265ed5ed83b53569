package cursor

import (
	"maps"
	"slices"
	"strings"

	"cursortray/proxy/chat"
)

// list returns what GET /v1/models shows: for each model its plain id, one for
// each further window, and the slugs of its variants.
func (c *Catalog) list(usable []usableRow) []chat.Model {
	labels := map[string]string{} // names in the usable list are whole
	for _, r := range usable {
		labels[r.ID] = r.Label
	}
	aliases := c.aliases()
	var models []chat.Model
	seen := map[string]bool{"": true}
	add := func(e *Entry, id, label string) {
		if seen[id] || c.exact[id].entry != e {
			return // two variants of one slug, or a name that another model has taken
		}
		seen[id] = true
		m := c.model(id, label)
		m.Aliases = aliases[id]
		models = append(models, m)
	}
	for _, e := range c.entries {
		add(e, e.ID, e.Label)
		for _, id := range e.windowIDs() {
			add(e, id, e.Label+" "+strings.ToUpper(id[strings.LastIndex(id, "@")+1:]))
		}
		for _, v := range e.Variants {
			label := labels[v.Slug]
			if label == "" {
				label = v.Label
			}
			if label == "" {
				label = v.Slug
			}
			add(e, v.Slug, label)
		}
	}
	return models
}

// windowIDs returns the ids of a model's further windows, such as
// "claude-opus-5-5@1m".
func (e *Entry) windowIDs() []string {
	var ids []string
	for _, size := range e.extraWindows() {
		ids = append(ids, e.ID+"@"+formatSize(size))
	}
	return ids
}

// model describes what a request for the id would get.
func (c *Catalog) model(id, label string) chat.Model {
	found := c.exact[id]
	e := found.entry
	s := e.pick(found.want)
	m := chat.Model{
		ID: id, Name: label, ContextWindow: s.Window, Images: e.Images, Reasoning: e.Reasoning,
		Default: e == c.usual && id == e.ID, Group: e.ID,
	}
	if e.MaxWindow > s.Window {
		m.MaxContextWindow = e.MaxWindow
	}
	if found.want.thinking == Off || found.want.effort == "none" {
		m.Reasoning = false
	}
	if e.row != "" {
		if price, ok := c.cfg.Prices.Price(e.row, s.Fast); ok {
			m.Price = &price
		}
	}
	return m
}

// aliases returns the other names of each id, in a fixed order.
func (c *Catalog) aliases() map[string][]string {
	aliases := map[string][]string{}
	for name, m := range c.exact {
		if m.id != name {
			aliases[m.id] = append(aliases[m.id], name)
		}
	}
	for _, names := range aliases {
		slices.Sort(names)
	}
	return aliases
}

// match is what a name stands for.
type match struct {
	id    string // the listed id that it is, or is another name of
	entry *Entry
	want  wish
	// A name of a variant fixes what it names: whoever chose "-high" from the
	// list gets it, also from a client that sends an effort with every request.
	fixedEffort, fixedThinking bool
}

// index collects the names of the list. Of equal names the first counts: the
// plain ids, the slugs, then other names.
func (c *Catalog) index(usable []usableRow) {
	c.exact = map[string]match{}
	add := func(name string, m match) {
		if _, ok := c.exact[name]; !ok && name != "" && m.entry != nil {
			c.exact[name] = m
		}
	}
	for _, e := range c.entries {
		add(e.ID, match{id: e.ID, entry: e})
	}
	for _, e := range c.entries {
		for i := range e.Variants {
			v := &e.Variants[i]
			want := v.wish()
			want.slug = v.Slug
			add(v.Slug, match{
				id: v.Slug, entry: e, want: want,
				fixedEffort: namesEffort(v.Slug), fixedThinking: v.Thinking != NoSwitch,
			})
		}
		for i, id := range e.windowIDs() {
			add(id, match{id: id, entry: e, want: wish{window: e.extraWindows()[i]}})
		}
	}
	for _, r := range usable {
		add(r.DisplayID, c.exact[r.ID])
	}
	for _, e := range c.entries {
		for _, alias := range e.Aliases {
			add(alias, match{id: e.ID, entry: e})
		}
	}
	for _, r := range usable {
		for _, alias := range r.Aliases {
			add(alias, c.exact[r.ID])
		}
	}
	c.folded = map[string]match{}
	for _, name := range slices.Sorted(maps.Keys(c.exact)) {
		if lower := strings.ToLower(name); lower != name {
			c.folded[lower] = c.exact[name]
		}
	}
}

// namesEffort says whether an id ends in a level of effort.
func namesEffort(id string) bool {
	var cut suffixes
	for cut.next(&id) {
	}
	return cut.want.effort != ""
}
