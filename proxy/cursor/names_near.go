package cursor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxCompared bounds the work for a foreign name, in bytes.
const maxCompared = 64

// shortName quotes a foreign name at a bearable length.
func shortName(name string) string {
	if runes := []rune(name); len(runes) > maxCompared {
		name = string(runes[:maxCompared]) + "..."
	}
	return strconv.Quote(name)
}

// nearest returns up to three ids of the list that are spelled most like name,
// those of plain models before those of variants.
func (c *Catalog) nearest(name string) []string {
	forms, _ := plainForms(name[:min(len(name), maxCompared)])
	plain := forms[len(forms)-1]
	type candidate struct {
		id       string
		distance int
	}
	var all []candidate
	for _, m := range c.models {
		d := 2 * distance(plain, strings.ToLower(m.ID[:min(len(m.ID), maxCompared)]))
		if m.ID != m.Group {
			d++
		}
		all = append(all, candidate{m.ID, d})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var ids []string
	for _, x := range all[:min(3, len(all))] {
		ids = append(ids, x.id)
	}
	return ids
}

// distance is how many bytes have to be changed, added or removed to make a
// into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
