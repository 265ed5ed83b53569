// Package confedit changes single values in the text of a configuration file
// and leaves every other byte as it was: comments, order, trailing commas,
// unknown keys, line ends, indentation, a byte-order mark.
//
// It knows JSON with comments and trailing commas, TOML, YAML and the lines of
// an environment file. Parsers find the places, the edit itself is a splice,
// and the result is parsed again: if it says anything else than the old file
// with that one change, the edit is refused. So a file that is written in an
// unforeseen way is left alone instead of being damaged.
//
// It does not read or write files and starts no goroutines.
package confedit

import (
	"errors"
	"fmt"
)

// Format is a file format.
type Format string

// The formats.
const (
	JSON   Format = "json" // with comments and trailing commas where the file has them
	TOML   Format = "toml"
	YAML   Format = "yaml"
	Dotenv Format = "env"
)

// Path leads from the root of a document to a value.
type Path []Step

// Step names one child: the member Name of a map or, if Key is set, the element
// of a list whose member Key is the string Is.
type Step struct {
	Name string `json:"name,omitempty"`
	Key  string `json:"key,omitempty"`
	Is   string `json:"is,omitempty"`
}

// Names is the path through maps.
func Names(names ...string) Path {
	p := make(Path, len(names))
	for i, name := range names {
		p[i].Name = name
	}
	return p
}

// Item is the step to the element of a list whose member key is the string is.
func Item(key, is string) Step { return Step{Key: key, Is: is} }

// Then returns the path with more steps behind it.
func (p Path) Then(steps ...Step) Path {
	return append(p[:len(p):len(p)], steps...)
}

// Within reports whether p is parent or below it.
func (p Path) Within(parent Path) bool {
	if len(p) < len(parent) {
		return false
	}
	for i, step := range parent {
		if p[i] != step {
			return false
		}
	}
	return true
}

func (p Path) String() string {
	text := ""
	for _, step := range p {
		switch {
		case step.Key != "":
			text += fmt.Sprintf("[%s=%s]", step.Key, step.Is)
		case text == "":
			text = step.Name
		default:
			text += "." + step.Name
		}
	}
	return text
}

// Map is a map to write, in this order.
type Map []Member

// Member is one entry of a Map.
type Member struct {
	Name  string
	Value any // string, bool, int, float64, Map, List or Keyed
}

// List is a list to write. Where the file has another one, it is replaced.
type List []any

// Keyed is a list of maps that are told apart by the string member By. Where
// the file has such a list, only the items given here are changed or added.
type Keyed struct {
	By    string
	Items []Map
}

// Get returns the value of a member, or nil.
func (m Map) Get(name string) any {
	for _, member := range m {
		if member.Name == name {
			return member.Value
		}
	}
	return nil
}

// ErrUnsafe says that the file is valid, but written in a way that cannot be
// edited without touching more than the value.
var ErrUnsafe = errors.New("the file is written in a way that cannot be edited safely")

// SyntaxError says where a file is not valid. The parser's own words are left
// out: they may quote the line, and the line may hold a secret.
type SyntaxError struct {
	Format       Format
	Line, Column int // 0: not known
}

func (e *SyntaxError) Error() string {
	name := map[Format]string{JSON: "JSON", TOML: "TOML", YAML: "YAML", Dotenv: "an environment file"}[e.Format]
	switch {
	case e.Line == 0:
		return "the file is not valid " + name
	case e.Column == 0:
		return fmt.Sprintf("the file is not valid %s (line %d)", name, e.Line)
	}
	return fmt.Sprintf("the file is not valid %s (line %d, column %d)", name, e.Line, e.Column)
}
