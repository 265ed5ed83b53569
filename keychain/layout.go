package keychain

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// How one value lies in the items of an operating system's store.
//
//	name          the value itself if it fits, else the head:
//	              {"v":1,"n":3,"gen":"9f86d081","sha256":"..."}
//	name#gen#i    part i of n of the generation gen
//	name#gens     generations that may have parts nobody needs (see save.go)
//
// The layout is the same everywhere, so that one test covers all systems. The
// smallest limits decide: Windows refuses items above 2,560 bytes, and the
// macOS tool takes about 2,950 bytes for service, name and value together.
const (
	maxItem  = 2000
	maxValue = 256 << 10
	// maxParts is what maxValue needs in base64.
	maxParts = (maxValue*4/3 + 4 + maxItem - 1) / maxItem
)

type head struct {
	V   int    `json:"v"`
	N   int    `json:"n"`
	Gen string `json:"gen"`
	Sum string `json:"sha256"` // of the value
	B64 bool   `json:"b64,omitempty"`
}

// generation names a set of parts.
type generation struct {
	Gen string `json:"gen"`
	N   int    `json:"n"`
}

func (g generation) item(name string, i int) string {
	return fmt.Sprintf("%s#%s#%d", name, g.Gen, i)
}

func (h head) generation() generation { return generation{Gen: h.Gen, N: h.N} }

// newGeneration returns a generation's name that is not used.
func newGeneration(used string) string {
	for {
		var b [4]byte
		rand.Read(b[:])
		if gen := hex.EncodeToString(b[:]); gen != used {
			return gen
		}
	}
}

// layOut returns the text of the item called name and the parts it refers to,
// none if the value fits into that item.
func layOut(value []byte, gen string) (item string, h head, parts []string) {
	text := string(value)
	plain := printable(text)
	// An empty item is not welcome everywhere, so the empty value gets a head
	// too; so does a value that would be read as one.
	if plain && text != "" && len(text) <= maxItem && !headStart.MatchString(text) {
		return text, head{}, nil
	}
	if !plain {
		text = base64.StdEncoding.EncodeToString(value)
	}
	for rest := text; rest != ""; {
		n := min(len(rest), maxItem)
		parts = append(parts, rest[:n])
		rest = rest[n:]
	}
	sum := sha256.Sum256(value)
	h = head{V: 1, N: len(parts), Gen: gen, Sum: hex.EncodeToString(sum[:]), B64: !plain}
	return mustJSON(h), h, parts
}

// headStart matches heads of this and of later versions. A value that begins
// like this is always stored in parts.
var headStart = regexp.MustCompile(`^\{"v":[0-9]+,"n":`)

var (
	genPattern = regexp.MustCompile(`^[0-9a-f]{8}$`)
	sumPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// parseHead tells a head from a value that is its own item. It reports a
// damaged head as ErrCorrupt.
func parseHead(item string) (h head, isHead bool, err error) {
	if !headStart.MatchString(item) {
		return head{}, false, nil
	}
	if err := strictJSON(item, &h); err != nil {
		return head{}, true, fmt.Errorf("%w: its first item cannot be read", ErrCorrupt)
	}
	if h.V != 1 {
		return head{}, true, fmt.Errorf("%w or was written by a newer version of this program", ErrCorrupt)
	}
	if h.N < 0 || h.N > maxParts || !genPattern.MatchString(h.Gen) || !sumPattern.MatchString(h.Sum) {
		return head{}, true, fmt.Errorf("%w: its first item makes no sense", ErrCorrupt)
	}
	return h, true, nil
}

// join is the reverse of layOut for values with a head.
func (h head) join(parts []string) ([]byte, error) {
	value := []byte(strings.Join(parts, ""))
	if h.B64 {
		decoded, err := base64.StdEncoding.AppendDecode(nil, value)
		if err != nil {
			return nil, fmt.Errorf("%w: it is not the base64 it should be", ErrCorrupt)
		}
		value = decoded
	}
	if sum := sha256.Sum256(value); hex.EncodeToString(sum[:]) != h.Sum {
		return nil, fmt.Errorf("%w: its parts do not belong together", ErrCorrupt)
	}
	return value, nil
}

type journal struct {
	Gens []generation `json:"gens"`
}

// parseJournal returns nothing for a damaged journal: its parts cannot be
// found any more, and no value depends on them.
func parseJournal(item string) []generation {
	var j journal
	if err := strictJSON(item, &j); err != nil {
		return nil
	}
	var gens []generation
	for _, g := range j.Gens {
		if g.N > 0 && g.N <= maxParts && genPattern.MatchString(g.Gen) {
			gens = append(gens, g)
		}
	}
	return gens
}

// printable says whether every store keeps s as it is.
func printable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func strictJSON(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if rest := bytes.TrimSpace([]byte(text[d.InputOffset():])); len(rest) > 0 {
		return fmt.Errorf("%d bytes too many", len(rest))
	}
	return nil
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of strings and numbers always marshal
	}
	return string(text)
}
