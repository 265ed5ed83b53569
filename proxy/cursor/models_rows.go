package cursor

import (
	"errors"
	"strings"
)

// The lists of Cursor's services in the form that is kept, and how they are
// read. Of AvailableModels these fields have no use here and are ignored:
// the lists of names and the models of features at the top, the degradation
// status, price (never seen filled), the tooltip of Max Mode, the server's
// model name, sandboxing and plan mode, taglines and short names. Of
// GetUsableModels, credentials of the user's own models are ignored, so that
// they never reach a file.

// modelLists is all that is known about an account's models.
type modelLists struct {
	Available []modelRow  `json:"available"`
	Usable    []usableRow `json:"usable,omitempty"`
	Default   string      `json:"default,omitempty"` // id of the CLI's default model
}

// modelRow is one model of AvailableModels: an entry of Cursor's picker.
type modelRow struct {
	Name          string         `json:"name"`
	Label         string         `json:"label,omitempty"`
	Vendor        string         `json:"vendor,omitempty"`
	Agent         *bool          `json:"agent,omitempty"` // nil here and below: not said
	Thinking      *bool          `json:"thinking,omitempty"`
	Images        *bool          `json:"images,omitempty"`
	MaxMode       *bool          `json:"max_mode,omitempty"`
	NormalMode    *bool          `json:"normal_mode,omitempty"`
	Hidden        bool           `json:"hidden,omitempty"`
	EditOnly      bool           `json:"edit_only,omitempty"`
	UserAdded     bool           `json:"user_added,omitempty"`
	Window        int            `json:"window,omitempty"`
	MaxWindow     int            `json:"max_window,omitempty"`
	TooltipWindow int            `json:"tooltip_window,omitempty"`
	Aliases       []string       `json:"aliases,omitempty"`
	Parameters    []parameterRow `json:"parameters,omitempty"`
	Variants      []variantRow   `json:"variants,omitempty"`
}

// parameterRow is a setting that a model has, with the values it takes.
type parameterRow struct {
	ID     string   `json:"id"`
	Values []string `json:"values,omitempty"`
}

// variantRow is one combination of a model's settings.
type variantRow struct {
	Slug          string      `json:"slug,omitempty"`
	Label         string      `json:"label,omitempty"`
	Parameters    []Parameter `json:"parameters,omitempty"`
	Max           bool        `json:"max,omitempty"`
	DefaultMax    bool        `json:"default_max,omitempty"`
	DefaultNormal bool        `json:"default_normal,omitempty"`
}

// usableRow is one model of GetUsableModels: an id that the account may run.
type usableRow struct {
	ID        string   `json:"id"`
	DisplayID string   `json:"display_id,omitempty"`
	Label     string   `json:"label,omitempty"`
	Aliases   []string `json:"aliases,omitempty"`
	Thinking  bool     `json:"thinking,omitempty"`
	Max       bool     `json:"max,omitempty"`
}

var (
	errNotJSON  = errors.New("the list of models is not JSON")
	errNoModels = errors.New("the list of models is empty")
)

// maxRows bounds what a list may hold; an account has about 30 models with 300
// variants.
const maxRows = 5000

// decodeAvailable reads an answer of AvailableModels. An answer without a
// model is an error.
func decodeAvailable(data []byte) ([]modelRow, error) {
	answer := parseFields(data)
	if answer == nil {
		return nil, errNotJSON
	}
	var rows []modelRow
	seen := map[string]bool{}
	for _, f := range answer.objects("models") {
		row := decodeModel(f)
		if validID(row.Name) && !seen[row.Name] && len(rows) < maxRows {
			seen[row.Name] = true
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, errNoModels
	}
	return rows, nil
}

func decodeModel(f fields) modelRow {
	row := modelRow{
		Name:          f.text("name"),
		Label:         cleanLabel(f.text("clientDisplayName")),
		Vendor:        cleanLabel(f.object("vendor").text("id")),
		Agent:         f.flag("supportsAgent"),
		Thinking:      f.flag("supportsThinking"),
		Images:        f.flag("supportsImages"),
		MaxMode:       f.flag("supportsMaxMode"),
		NormalMode:    f.flag("supportsNonMaxMode"),
		Hidden:        f.isTrue("isHidden"),
		EditOnly:      f.isTrue("onlySupportsCmdK"),
		UserAdded:     f.isTrue("isUserAdded"),
		Window:        f.number("contextTokenLimit"),
		MaxWindow:     f.number("contextTokenLimitForMaxMode"),
		TooltipWindow: tooltipWindow(f.object("tooltipData").text("markdownContent")),
		Aliases:       append(f.ids("idAliases"), f.ids("legacySlugs")...),
	}
	if row.Vendor == "" {
		row.Vendor = cleanLabel(f.text("vendorName"))
	}
	row.Vendor = strings.ToLower(strings.TrimPrefix(row.Vendor, "MODEL_VENDOR_ID_"))
	for _, p := range f.objects("parameterDefinitions") {
		if id := p.text("id"); validID(id) {
			row.Parameters = append(row.Parameters, parameterRow{ID: id, Values: parameterValues(p)})
		}
	}
	for _, v := range f.objects("variants") {
		if len(row.Variants) < maxRows {
			row.Variants = append(row.Variants, decodeVariant(v))
		}
	}
	return row
}

// parameterValues reads the values that a setting takes, wherever they are: one
// public client declares them beside the id.
func parameterValues(p fields) []string {
	kind := p.object("parameterType")
	values := p.objects("values")
	for _, form := range []string{"enumParameter", "booleanParameter"} {
		if kind.has(form) {
			values = kind.object(form).objects("values")
			if len(values) == 0 && form == "booleanParameter" {
				return []string{"false", "true"}
			}
		}
	}
	var texts []string
	for _, v := range values {
		if text := v.text("value"); validID(text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func decodeVariant(f fields) variantRow {
	v := variantRow{
		Slug:          f.text("legacySlug"),
		Label:         cleanLabel(f.text("displayName")),
		Max:           f.isTrue("isMaxMode"),
		DefaultMax:    f.isTrue("isDefaultMaxConfig"),
		DefaultNormal: f.isTrue("isDefaultNonMaxConfig"),
	}
	if !validID(v.Slug) {
		v.Slug = ""
	}
	if v.Label == "" {
		v.Label = cleanLabel(f.text("displayNameOutsidePicker"))
	}
	for _, p := range f.objects("parameterValues") {
		value := p.text("value")
		if b := p.flag("value"); value == "" && b != nil { // a text so far, but it could become a flag
			value = map[bool]string{false: "false", true: "true"}[*b]
		}
		if id := p.text("id"); validID(id) && validID(value) {
			v.Parameters = append(v.Parameters, Parameter{ID: id, Value: value})
		}
	}
	if len(v.Parameters) == 0 {
		v.Parameters = parseRepresentation(f.text("variantStringRepresentation"))
	}
	return v
}

var representation = pattern(`^[^\[\]]+\[([^\[\]]*)\]$`)

// parseRepresentation reads the settings in a text such as
// "model[effort=high,fast=false]".
func parseRepresentation(text string) []Parameter {
	m := representation().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	var parameters []Parameter
	for setting := range strings.SplitSeq(m[1], ",") {
		id, value, _ := strings.Cut(setting, "=")
		if validID(id) && validID(value) {
			parameters = append(parameters, Parameter{ID: id, Value: value})
		}
	}
	return parameters
}

// decodeUsable reads an answer of GetUsableModels. An answer without a model
// is an error.
func decodeUsable(data []byte) ([]usableRow, error) {
	answer := parseFields(data)
	if answer == nil {
		return nil, errNotJSON
	}
	var rows []usableRow
	seen := map[string]bool{}
	for _, f := range answer.objects("models") {
		row := decodeDetails(f)
		if validID(row.ID) && !seen[row.ID] && len(rows) < maxRows {
			seen[row.ID] = true
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, errNoModels
	}
	return rows, nil
}

func decodeDetails(f fields) usableRow {
	row := usableRow{
		ID:        f.text("modelId"),
		DisplayID: f.text("displayModelId"),
		Label:     cleanLabel(f.text("displayName")),
		Aliases:   f.ids("aliases"),
		Thinking:  f.has("thinkingDetails"), // often an empty object
		Max:       f.isTrue("maxMode"),
	}
	if !validID(row.DisplayID) {
		row.DisplayID = ""
	}
	if row.Label == "" {
		row.Label = cleanLabel(f.text("displayNameShort"))
	}
	return row
}

// decodeDefault reads an answer of GetDefaultModelForCli.
func decodeDefault(data []byte) (string, error) {
	answer := parseFields(data)
	if answer == nil {
		return "", errNotJSON
	}
	row := decodeDetails(answer.object("model"))
	if !validID(row.ID) {
		return "", errNoModels
	}
	return row.ID, nil
}
