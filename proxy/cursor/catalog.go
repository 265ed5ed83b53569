package cursor

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cursortray/proxy/chat"
)

// PriceTable is what the program itself knows about models, beside the
// account's list. Its methods may be called at the same time.
type PriceTable interface {
	// Figures returns the row of an id or another name of a model, in lower
	// case.
	Figures(name string) (Figures, bool)
	// Price returns the rates of the row Figures.ID, or of its fast variant;
	// false if there are none.
	Price(id string, fast bool) (chat.Price, bool)
}

// Figures is a row of a PriceTable.
type Figures struct {
	ID string
	// PriceOnly says that the row was found by the name of another model, which
	// only costs the same.
	PriceOnly  bool
	Window     int // tokens; 0 is not known
	MaxWindow  int // tokens in Max Mode; 0 is not known, or no such mode
	Images     bool
	CursorPool bool // paid from the allowance for Cursor's own models
}

// CatalogConfig has what a Catalog is made with beside the account's lists.
type CatalogConfig struct {
	Prices PriceTable        // nil knows nothing
	Names  map[string]string // the user's own names for models
	// Default and Small stand in for models of other vendors that Cursor does
	// not have: for the big ones and for the small ones of background tasks.
	// "" is Cursor's automatic choice. Default is asked at each name, since
	// users change their minds; it must not wait, and nil is "".
	Default func() string
	Small   string
}

// Catalog is the list of an account's models. It does not change.
type Catalog struct {
	cfg     CatalogConfig
	fetched time.Time
	entries []*Entry
	exact   map[string]match // every name of the list
	folded  map[string]match // those with capitals, without them
	auto    *Entry           // what "auto" stands for
	usual   *Entry           // what the account uses when it names none
	models  []chat.Model
}

// Entry is a model with its variants. It does not change.
type Entry struct {
	ID        string // in Cursor's picker
	Label     string // for people; plain text
	Vendor    string // "anthropic", "openai", ...; "" if not known
	Aliases   []string
	Window    int // tokens
	MaxWindow int // tokens of the largest one; 0 if there is no larger one
	Images    bool
	Reasoning bool
	MaxOnly   bool // runs in Max Mode only
	UserAdded bool // with the user's own key, and not Cursor's
	Variants  []Variant

	settings   []parameterRow
	normal     wish // the settings of the default variant
	most       wish // those of the default variant in Max Mode
	cursorPool bool
	row        string // id in the PriceTable; "" if it has none
}

// Variant is one combination of settings that the account may run.
type Variant struct {
	Slug       string // the id that stands for all of it; "" if there is none
	Label      string
	Parameters []Parameter // to be sent
	Effort     string      // as the model spells it; "" if it has no levels
	Thinking   Switch
	Fast       Switch
	Window     int  // tokens; 0 is the model's own
	Max        bool // needs Max Mode

	flat bool // known by its slug alone, which says all of it
}

// Switch is a setting that is on, off or does not exist.
type Switch int8

// The values of a Switch.
const (
	NoSwitch Switch = iota
	Off
	On
)

// Parameter is a setting of a request for a model.
type Parameter struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// ParseCatalog makes a Catalog of the JSON answers of AvailableModels,
// GetUsableModels and GetDefaultModelForCli, which may each be missing, but
// not both of the first two.
func ParseCatalog(available, usable, standard []byte, fetched time.Time, cfg CatalogConfig) (*Catalog, error) {
	lists, err := parseLists(available, usable, standard)
	if err != nil {
		return nil, err
	}
	return newCatalog(lists, fetched, cfg)
}

func parseLists(available, usable, standard []byte) (modelLists, error) {
	var lists modelLists
	var err, errUsable error
	lists.Available, err = decodeAvailable(available)
	lists.Usable, errUsable = decodeUsable(usable)
	if err != nil && errUsable != nil {
		return modelLists{}, err
	}
	lists.Default, _ = decodeDefault(standard) // only moves a mark
	return lists, nil
}

// newCatalog fails if no model is left to show.
func newCatalog(lists modelLists, fetched time.Time, cfg CatalogConfig) (*Catalog, error) {
	if cfg.Prices == nil {
		cfg.Prices = noPrices{}
	}
	c := &Catalog{cfg: cfg, fetched: fetched}
	usable := newUsableSet(lists.Usable)
	for i := range lists.Available {
		if row := &lists.Available[i]; !isHidden(row) {
			c.entries = append(c.entries, newEntry(row, usable, cfg.Prices))
		}
	}
	c.addFlat(lists)
	if len(c.entries) == 0 {
		return nil, errNoModels
	}
	tagEntries(c.entries)
	c.index(lists.Usable)
	c.setDefaults(lists.Default)
	c.sort()
	c.models = c.list(lists.Usable)
	return c, nil
}

// noPrices is an empty PriceTable.
type noPrices struct{}

func (noPrices) Figures(string) (Figures, bool)        { return Figures{}, false }
func (noPrices) Price(string, bool) (chat.Price, bool) { return chat.Price{}, false }

// Fetched returns when Cursor sent the list.
func (c *Catalog) Fetched() time.Time { return c.fetched }

// Entries returns the models in the order to show them. They are shared: do
// not change them.
func (c *Catalog) Entries() []*Entry { return slices.Clone(c.entries) }

// Models returns every id that a client may send, grouped by model, in the
// order to show them. The caller owns the slice.
func (c *Catalog) Models() []chat.Model { return slices.Clone(c.models) }

// isHidden says whether a model cannot be used through this program. Haiku 4.5
// is left out by Cursor's own CLI too.
func isHidden(row *modelRow) bool {
	return row.Hidden || row.EditOnly || row.Agent != nil && !*row.Agent || isLeftOut(row.Name)
}

func isLeftOut(id string) bool {
	return strings.HasPrefix(id, "claude-haiku-4-5") || strings.HasPrefix(id, "claude-4.5-haiku")
}

func newEntry(row *modelRow, usable usableSet, prices PriceTable) *Entry {
	e := &Entry{
		ID: row.Name, Label: row.Label, Vendor: row.Vendor, Aliases: row.Aliases,
		MaxOnly: row.NormalMode != nil && !*row.NormalMode, UserAdded: row.UserAdded,
		settings: row.Parameters,
	}
	if e.Label == "" {
		e.Label = row.Name
	}
	figures := e.lookUp(prices)
	e.Window, e.MaxWindow = windows(row, figures)
	e.Images = figures.Images
	if row.Images != nil {
		e.Images = *row.Images
	}
	e.addVariants(row, usable)
	e.Reasoning = row.Thinking != nil && *row.Thinking ||
		slices.ContainsFunc(e.Variants, func(v Variant) bool { return v.Thinking == On })
	return e
}

// lookUp finds the model's row in the table and returns its figures.
func (e *Entry) lookUp(prices PriceTable) Figures {
	for _, name := range append([]string{e.ID}, e.Aliases...) {
		figures, ok := prices.Figures(strings.ToLower(name))
		if !ok {
			continue
		}
		e.row, e.cursorPool = figures.ID, figures.CursorPool
		if figures.PriceOnly {
			return Figures{}
		}
		return figures
	}
	e.cursorPool = e.Vendor == "cursor"
	return Figures{}
}

func (e *Entry) addVariants(row *modelRow, usable usableSet) {
	appears := slices.ContainsFunc(row.Variants, func(v variantRow) bool { return usable[v.Slug] })
	hasNormal, hasMost := false, false
	for _, r := range row.Variants {
		v := readVariant(r)
		// A variant that the account may not run still says what is usual.
		if r.DefaultNormal && !hasNormal {
			e.normal, hasNormal = v.wish(), true
		}
		if r.DefaultMax && !hasMost {
			e.most, hasMost = v.wish(), true
		}
		if appears && v.Slug != "" && !usable[v.Slug] || isLeftOut(v.Slug) {
			continue
		}
		e.Variants = append(e.Variants, v)
	}
	switch {
	case !hasNormal && hasMost:
		e.normal = e.most
	case !hasNormal && len(e.Variants) > 0:
		e.normal = e.Variants[0].wish()
	}
	if !hasMost {
		e.most = e.normal
	}
	tagVariants(e.Variants)
}

// readVariant sorts a variant's parameters by what they mean. The ids and
// values are open sets.
func readVariant(r variantRow) Variant {
	v := Variant{Slug: r.Slug, Label: r.Label, Parameters: r.Parameters, Max: r.Max}
	for _, p := range r.Parameters {
		switch {
		case p.ID == "context":
			v.Window = parseSize(p.Value)
		case p.ID == "thinking":
			v.Thinking = parseSwitch(p.Value)
		case p.ID == "fast":
			v.Fast = parseSwitch(p.Value)
		case isEffort(p.ID):
			v.Effort = p.Value
		}
	}
	return v
}

// isEffort says whether a parameter is the level of reasoning.
func isEffort(id string) bool { return id == "effort" || id == "reasoning" || id == "reasoning_effort" }

func parseSwitch(value string) Switch {
	switch value {
	case "true":
		return On
	case "false":
		return Off
	}
	return NoSwitch
}

// tagEntries and tagVariants make labels that differ where only thinking does.
func tagEntries(entries []*Entry) {
	var all []labelled
	for _, e := range entries {
		all = append(all, labelled{&e.Label, e.Reasoning})
	}
	tagThinking(all)
}

func tagVariants(variants []Variant) {
	var all []labelled
	for i := range variants {
		all = append(all, labelled{&variants[i].Label, variants[i].Thinking == On})
	}
	tagThinking(all)
}

// setDefaults finds the entries for a request that names no model.
func (c *Catalog) setDefaults(standard string) {
	c.auto = c.entries[0]
	if m, ok := c.exact["default"]; ok {
		c.auto = m.entry
	} else if m, ok := c.exact["auto"]; ok {
		c.auto = m.entry
	}
	c.usual = c.auto
	if m, ok := c.exact[standard]; ok {
		c.usual = m.entry
	}
}

// sort puts the default first, then what Cursor's own allowance pays for, then
// the rest by vendor and name.
func (c *Catalog) sort() {
	rank := func(e *Entry) int {
		switch {
		case e == c.usual:
			return 0
		case e.cursorPool:
			return 1
		case e.Vendor != "":
			return 2
		}
		return 3
	}
	slices.SortStableFunc(c.entries, func(a, b *Entry) int {
		pool := cmp.Compare(rank(a), rank(b))
		if pool == 0 && rank(a) == 2 {
			pool = cmp.Compare(a.Vendor, b.Vendor)
		}
		return cmp.Or(pool, cmp.Compare(a.ID, b.ID))
	})
}
