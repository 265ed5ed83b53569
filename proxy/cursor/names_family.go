package cursor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// family is a line of models and a place in it: Claude Opus 4.8 is version 4.8
// of "claude-opus", gpt-5.6-sol version 5.6 of "gpt-*-sol".
type family struct {
	line    string
	version version
}

type version struct{ major, minor int }

func (v version) compare(o version) int {
	return cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor))
}

// byFamily finds the model that stands in for one that the account does not
// have. Tools keep asking for models that Cursor has dropped or never had;
// those of Claude Code cannot be set up in every tool.
func (c *Catalog) byFamily(r reading) (match, bool) {
	var m match
	var ok bool
	switch f, isClaude := claudeFamily(r.base); {
	case isClaude && f.line == "claude-haiku":
		if m, ok = c.ofLine(f, newest); !ok {
			m, ok = c.standIn(c.cfg.Small), true
		}
	case isClaude:
		m, ok = c.ofLine(f, claudeChoice(f))
	case foreignGPT().MatchString(r.base):
		m, ok = c.standIn(c.standard()), true
	case r.known: // a model that Cursor once had
		if f, isOther := otherFamily(r.base); isOther {
			m, ok = c.ofLine(f, nextNewer)
		}
	}
	if !ok {
		return match{}, false
	}
	m.want = r.want.over(m.want)
	m.fixedEffort = m.fixedEffort || r.want.effort != ""
	m.fixedThinking = m.fixedThinking || r.want.thinking != NoSwitch
	return m, true
}

// foreignGPT matches OpenAI models that Cursor has never listed but that
// OpenAI's own tools ask for.
var foreignGPT = pattern(`^gpt-(?:5|5-codex|6(?:[-.].*)?)$`)

func (c *Catalog) standard() string {
	if c.cfg.Default == nil {
		return ""
	}
	return c.cfg.Default()
}

// standIn returns the model for which the user has set a name, else Cursor's
// automatic choice.
func (c *Catalog) standIn(name string) match {
	if name != "" {
		if m, ok := c.byName(name); ok {
			return m
		}
	}
	return match{id: c.auto.ID, entry: c.auto}
}

// choice says which models of a line may stand in for one that is missing.
type choice int

const (
	nextNewer     choice = iota // the next newer one only
	newerOrNewest               // the next newer one, else the newest
	newest
)

// claudeChoice follows how near the versions are: Opus before 4.5 was another
// class of model.
func claudeChoice(f family) choice {
	if f.version == (version{}) || f.line == "claude-opus" && f.version.compare(version{4, 5}) < 0 {
		return newest
	}
	return newerOrNewest
}

// ofLine finds the stand-in among the account's models.
func (c *Catalog) ofLine(missing family, which choice) (match, bool) {
	type member struct {
		version
		entry *Entry
	}
	var line []member
	for _, e := range c.entries {
		f, ok := claudeFamily(e.ID)
		if !ok {
			f, ok = otherFamily(e.ID)
		}
		if ok && f.line == missing.line && !e.UserAdded {
			line = append(line, member{f.version, e})
		}
	}
	if len(line) == 0 {
		return match{}, false
	}
	slices.SortStableFunc(line, func(a, b member) int { return a.compare(b.version) })
	found := line[len(line)-1].entry
	if which != newest {
		i := slices.IndexFunc(line, func(m member) bool { return m.compare(missing.version) > 0 })
		if i < 0 && which == nextNewer {
			return match{}, false
		}
		if i >= 0 {
			found = line[i].entry
		}
	}
	return match{id: found.ID, entry: found}, true
}

// claudeFamily reads names of Claude models in all their spellings:
// claude-opus-4-8, claude-4.8-opus, claude-3-5-haiku, opus-4.6, sonnet.
func claudeFamily(name string) (family, bool) {
	rest, named := strings.CutPrefix(name, "claude-")
	word := ""
	var numbers []string
	for token := range strings.SplitSeq(rest, "-") {
		switch {
		case versionText().MatchString(token):
			numbers = append(numbers, strings.Split(token, ".")...)
		case word == "" && wordText().MatchString(token):
			word = token
		default:
			return family{}, false
		}
	}
	if word == "" || len(numbers) > 2 || !named && word != "opus" && word != "sonnet" && word != "haiku" {
		return family{}, false
	}
	return family{line: "claude-" + word, version: parseVersion(numbers)}, true
}

var (
	versionText = pattern(`^[0-9]{1,4}(?:\.[0-9]{1,4})?$`)
	wordText    = pattern(`^[a-z]+$`)
	lineVersion = pattern(`^([a-z]?)([0-9]{1,4}(?:\.[0-9]{1,4})?)$`)
)

// otherFamily reads names with the version in one piece.
func otherFamily(name string) (family, bool) {
	tokens := strings.Split(name, "-")
	for i, token := range tokens {
		if m := lineVersion().FindStringSubmatch(token); m != nil && i > 0 {
			tokens[i] = m[1] + "*"
			return family{strings.Join(tokens, "-"), parseVersion(strings.Split(m[2], "."))}, true
		}
	}
	return family{}, false
}

func parseVersion(numbers []string) version {
	var v version
	for i, into := range []*int{&v.major, &v.minor} {
		if i < len(numbers) {
			*into, _ = strconv.Atoi(numbers[i]) // up to four digits
		}
	}
	return v
}
