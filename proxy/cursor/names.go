package cursor

import (
	"slices"
	"strings"

	"cursortray/proxy/chat"
)

// Resolve finds the model that a request names, in Cursor's spelling or that of
// other tools, and the variant for the effort that it asks for, "" for the
// usual one. The error is a *chat.Error of kind NotFound.
func (c *Catalog) Resolve(name, effort string) (Selection, error) {
	m, ok := c.find(strings.TrimSpace(name))
	if !ok {
		return Selection{}, c.unknown(name)
	}
	return m.entry.pick(m.entry.askEffort(m, effort)), nil
}

// find goes from the surest reading of a name to the vaguest.
func (c *Catalog) find(name string) (match, bool) {
	if m, ok := c.exact[name]; ok {
		return m, true
	}
	if lower := strings.ToLower(name); lower == "" || lower == "auto" || lower == "default" {
		return match{id: c.auto.ID, entry: c.auto}, true
	}
	r := c.read(name)
	if r.match.entry != nil {
		return r.match, true
	}
	if m, ok := c.byUser(name, r); ok {
		return m, true
	}
	if r.refused {
		return match{}, false
	}
	return c.byFamily(r)
}

// reading is what can be learned from a name without its family.
type reading struct {
	match   match    // entry is nil if there is none
	forms   []string // the name with less and less around it
	base    string   // the model's own name, as far as it can be told
	want    wish     // what was cut from the name's end
	known   bool     // base is in the table of prices
	refused bool     // it is known as a model that nothing else may stand in for
}

// read takes away what tools put around a model's name and then the settings in
// its end, and looks for what is left in the list and in the table.
func (c *Catalog) read(name string) reading {
	forms, window := plainForms(name)
	r := reading{forms: forms, base: forms[len(forms)-1], want: wish{window: window}}
	for _, form := range forms {
		if r.listed(c, form) {
			return r
		}
	}
	for _, form := range forms {
		if r.inTable(c, form) || r.refused {
			return r
		}
	}
	cut := suffixes{want: r.want}
	rest := r.base
	for !r.known && cut.next(&rest) {
		r.base, r.want = rest, cut.want
		if r.listed(c, rest) || r.inTable(c, rest) || r.refused {
			return r
		}
	}
	return r
}

// listed looks for a form in the account's list.
func (r *reading) listed(c *Catalog, form string) bool {
	m, ok := c.exact[form]
	if !ok {
		m, ok = c.folded[form]
	}
	if !ok || r.want.repeats(m) {
		return false
	}
	m.want = r.want.over(m.want)
	m.fixedEffort = m.fixedEffort || r.want.effort != ""
	m.fixedThinking = m.fixedThinking || r.want.thinking != NoSwitch
	r.match = m
	return true
}

// repeats says whether a setting was cut from behind a name that fixes it
// already: such a name is nobody's.
func (w wish) repeats(m match) bool {
	return w.effort != "" && m.fixedEffort ||
		w.thinking == On && m.want.thinking == On ||
		w.fast == On && m.want.fast == On
}

// inTable looks for a form in the table of prices, and for the model that it
// means in the list.
func (r *reading) inTable(c *Catalog, form string) bool {
	figures, ok := c.cfg.Prices.Figures(form)
	if !ok {
		return false
	}
	if figures.PriceOnly { // another model; which one would be a guess
		r.refused = true
		return false
	}
	r.known, r.base = true, figures.ID
	return r.listed(c, figures.ID)
}

var (
	vendorPath = pattern(`^.*/|^(?:[a-z-]{2,8}\.)?anthropic\.`)
	windowMark = pattern(`(?:\[([0-9.]+[km])\]|@([0-9.]+[km]))$`)
	dateMark   = pattern(`(?:[-@]20[0-9]{6})?(?:-v[0-9](?::[0-9])?)?$`)
	stateMark  = pattern(`-(?:preview|latest)$`)
)

// plainForms returns a name in lower case and then with less and less around
// it: a provider's path, a window such as [1m], a date with a version, and
// "-preview". The last one is the plainest.
func plainForms(name string) (forms []string, window int) {
	form := strings.ToLower(strings.TrimSpace(name))
	forms = []string{form}
	next := func(s string) {
		if s != form && s != "" {
			form = s
			forms = append(forms, form)
		}
	}
	next(vendorPath().ReplaceAllString(form, ""))
	next(vendorPath().ReplaceAllString(form, "")) // bedrock/us.anthropic.claude-...
	if m := windowMark().FindStringSubmatch(form); m != nil {
		if window = parseSize(m[1] + m[2]); window > 0 {
			next(strings.TrimSuffix(form, m[0]))
		}
	}
	next(dateMark().ReplaceAllString(form, ""))
	next(stateMark().ReplaceAllString(form, ""))
	return forms, window
}

// suffixes cuts settings from the end of a name, at most one of each kind.
type suffixes struct {
	want wish
}

// next cuts the last setting from name and notes it; false if there is none.
func (s *suffixes) next(name *string) bool {
	i := strings.LastIndexByte(*name, '-')
	if i <= 0 {
		return false
	}
	rest, token := (*name)[:i], (*name)[i+1:]
	if token == "high" && strings.HasSuffix(rest, "-extra") {
		rest, token = strings.TrimSuffix(rest, "-extra"), "xhigh"
	}
	size := parseSize(token)
	switch {
	case token == "fast" && s.want.fast == NoSwitch:
		s.want.fast = On
	case token == "thinking" && s.want.thinking == NoSwitch:
		s.want.thinking = On
	case slices.Contains(effortLevels[:], token) && s.want.effort == "":
		s.want.effort = token
	case size > 0 && s.want.window == 0:
		s.want.window = size
	default:
		return false
	}
	*name = rest
	return rest != ""
}

// byUser looks into the user's own map. Its values are names of the list, or
// readable ones, and no further entries of the map.
func (c *Catalog) byUser(name string, r reading) (match, bool) {
	for _, form := range append([]string{name}, r.forms...) {
		target, ok := c.cfg.Names[form]
		if !ok {
			continue
		}
		m, found := c.byName(target)
		if found {
			m.want = wish{window: r.want.window}.over(m.want)
			return m, true
		}
	}
	return match{}, false
}

// byName finds a name that the user has set.
func (c *Catalog) byName(name string) (match, bool) {
	if m, ok := c.exact[name]; ok {
		return m, true
	}
	m := c.read(name).match
	return m, m.entry != nil
}

// unknown is the error for a name that stands for nothing. It is found before
// any request is made, because Cursor's own refusal would come later and say
// less.
func (c *Catalog) unknown(name string) *chat.Error {
	message := "there is no model " + shortName(name) + " in this Cursor account"
	if near := c.nearest(name); len(near) > 0 {
		message += "; the nearest are " + strings.Join(near, ", ")
	}
	return &chat.Error{Kind: chat.NotFound, Message: message}
}
