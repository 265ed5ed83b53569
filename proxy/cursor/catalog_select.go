package cursor

import (
	"slices"
	"strings"
)

// Selection is what a request for a model sends.
type Selection struct {
	ID         string // of the model
	Max        bool   // Max Mode
	Parameters []Parameter

	Model  *Entry
	Window int  // tokens of the chosen window
	Fast   bool // costs what the fast variant costs
}

// wish is what a name and a request ask of a model. The zero value asks for
// nothing.
type wish struct {
	effort   string
	thinking Switch
	fast     Switch
	window   int
	slug     string // of the variant that has all of it but the window
}

// over returns w with everything that base asks for and w does not.
func (w wish) over(base wish) wish {
	if w.effort == "" && w.thinking == NoSwitch && w.fast == NoSwitch && w.slug == "" {
		w.slug = base.slug
	}
	if w.effort == "" {
		w.effort = base.effort
	}
	if w.thinking == NoSwitch {
		w.thinking = base.thinking
	}
	if w.fast == NoSwitch {
		w.fast = base.fast
	}
	if w.window == 0 {
		w.window = base.window
	}
	return w
}

func (v *Variant) wish() wish {
	return wish{effort: v.Effort, thinking: v.Thinking, fast: v.Fast}
}

// modelID decides which id a request sends for a variant, and is the only place
// that does. Public clients disagree: one, to September 2026, sends the name in
// the picker with the parameters; another, of October, had the bare name
// refused with status 502 and sends the variant's slug with the parameters.
func modelID(e *Entry, v *Variant) string {
	if v.Slug != "" {
		return v.Slug
	}
	return e.ID
}

// pick chooses the variant that is nearest to the wish.
func (e *Entry) pick(w wish) Selection {
	w.window = e.nearestWindow(w.window)
	v := e.variant(w)
	s := Selection{
		ID: modelID(e, &v), Model: e, Parameters: e.parameters(&v, w),
		Fast: v.Fast == On || v.Fast == NoSwitch && w.fast == On && e.has("fast"),
	}
	s.Window = firstOf(v.Window, w.window, e.Window)
	s.Max = v.Max || e.MaxOnly || s.Window > e.Window
	if s.Max && v.Window == 0 && w.window == 0 {
		s.Window = max(e.Window, e.MaxWindow)
	}
	return s
}

// nearestWindow returns the largest window of the model that is not above the
// wish, 0 for the usual one.
func (e *Entry) nearestWindow(wished int) int {
	if wished == 0 || wished == e.Window {
		return 0
	}
	best := 0
	for _, size := range e.extraWindows() {
		if size <= wished || formatSize(size) == formatSize(wished) {
			best = max(best, size)
		}
	}
	if best < e.Window && wished > e.Window {
		return 0
	}
	return best
}

// extraWindows returns the sizes that can be asked for beside the usual one, in
// rising order.
func (e *Entry) extraWindows() []int {
	var sizes []int
	for _, v := range e.Variants {
		if v.Window > 0 && v.Window != e.Window {
			sizes = append(sizes, v.Window)
		}
	}
	if e.MaxWindow > 0 && !e.MaxOnly {
		sizes = append(sizes, e.MaxWindow)
	}
	slices.Sort(sizes)
	return slices.CompactFunc(sizes, func(a, b int) bool { return formatSize(a) == formatSize(b) })
}

// variant returns the nearest variant: the window counts most, then the speed,
// then thinking, then the effort. A wish that no variant fulfils is passed
// over. Fast costs more, so it has to be asked for, whatever the server's
// default is.
func (e *Entry) variant(w wish) Variant {
	usual := e.normal
	window := w.window
	if window > e.Window {
		usual = e.most
	} else if window == 0 {
		window = e.Window
	}
	usual.fast = Off
	w = w.over(usual)
	left := make([]*Variant, len(e.Variants))
	for i := range e.Variants {
		left[i] = &e.Variants[i]
	}
	left = narrow(left, func(v *Variant) bool { return w.slug == "" || v.Slug == w.slug })
	left = narrow(left, func(v *Variant) bool { return v.Window == window || v.Window == 0 && window == e.Window })
	left = narrow(left, func(v *Variant) bool { return v.Max == (window > e.Window) })
	left = narrow(left, func(v *Variant) bool { return (v.Fast == On) == (w.fast == On) })
	left = narrow(left, func(v *Variant) bool { return w.thinking == NoSwitch || v.Thinking == w.thinking })
	var levels []string
	for _, v := range left {
		levels = append(levels, v.Effort)
	}
	level := nearestEffort(w.effort, usual.effort, levels)
	left = narrow(left, func(v *Variant) bool { return v.Effort == level })
	if len(left) == 0 {
		return Variant{Label: e.Label}
	}
	return *left[0]
}

// narrow returns the variants that fit, or all if none does.
func narrow(variants []*Variant, fits func(*Variant) bool) []*Variant {
	var left []*Variant
	for _, v := range variants {
		if fits(v) {
			left = append(left, v)
		}
	}
	if len(left) == 0 {
		return variants
	}
	return left
}

// parameters returns what is sent for the variant. A setting that the model has
// and the variant does not name is sent where it was asked for; fast is sent
// always: if it is missing, the server takes that for fast, at the fast price.
func (e *Entry) parameters(v *Variant, w wish) []Parameter {
	parameters := slices.Clone(v.Parameters)
	if v.flat {
		return parameters
	}
	for _, s := range e.settings {
		if slices.ContainsFunc(parameters, func(p Parameter) bool { return p.ID == s.ID }) {
			continue
		}
		value := ""
		switch {
		case s.ID == "fast":
			value = onOff(w.fast == On)
		case s.ID == "thinking" && w.thinking != NoSwitch:
			value = onOff(w.thinking == On)
		case isEffort(s.ID) && w.effort != "":
			value = nearestEffort(w.effort, "", s.Values)
		case s.ID == "context" && w.window > 0:
			value = formatSize(w.window)
		}
		if slices.Contains(s.Values, value) {
			parameters = append(parameters, Parameter{ID: s.ID, Value: value})
		}
	}
	return parameters
}

func onOff(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

// has says whether the model has a setting.
func (e *Entry) has(id string) bool {
	return slices.ContainsFunc(e.settings, func(s parameterRow) bool { return s.ID == id })
}

// thinks says whether thinking can be switched on and off.
func (e *Entry) thinks() bool {
	return e.has("thinking") || slices.ContainsFunc(e.Variants, func(v Variant) bool { return v.Thinking != NoSwitch })
}

// askEffort adds a request's effort to a wish: a level, or that the model is to
// think or not. What the name has fixed stays.
func (e *Entry) askEffort(m match, effort string) wish {
	w := m.want
	switch effort = strings.ToLower(strings.TrimSpace(effort)); effort {
	case "":
		return w
	case "none", "off", "disabled", "false":
		effort = "none"
		if e.thinks() && !m.fixedThinking {
			w.thinking, w.slug = Off, ""
			if !slices.ContainsFunc(e.Variants, func(v Variant) bool { return v.Effort == effort }) {
				return w // the effort of the variant that does not think
			}
		}
	case "on", "enabled", "true", "auto", "adaptive":
		if e.thinks() && !m.fixedThinking {
			w.thinking, w.slug = On, ""
		}
		return w
	default:
		if e.thinks() && !m.fixedThinking {
			w.thinking, w.slug = On, ""
		}
	}
	if !m.fixedEffort {
		w.effort, w.slug = effort, ""
	}
	return w
}

// nearestEffort returns the level that is nearest to the wished one, the lower
// of two. A wish that is no known level gives the usual one, and no levels give
// "".
func nearestEffort(wished, usual string, levels []string) string {
	for _, effort := range []string{wished, usual} {
		if slices.Contains(levels, effort) {
			return effort
		}
		rank := effortRank(effort)
		if rank < 0 {
			continue
		}
		best, distance := "", 0
		for _, level := range levels {
			r := effortRank(level)
			d := max(2*(r-rank), 2*(rank-r)-1) // lower is a bit nearer
			if r >= 0 && (best == "" || d < distance) {
				best, distance = level, d
			}
		}
		if best != "" {
			return best
		}
	}
	if len(levels) == 0 {
		return ""
	}
	return levels[0]
}

// effortLevels are the levels seen, in rising order.
var effortLevels = [...]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// effortRank returns the place of a level, -1 for an unknown one.
func effortRank(level string) int {
	switch level {
	case "extra-high", "extra_high", "x-high":
		level = "xhigh"
	}
	return slices.Index(effortLevels[:], level)
}
