package wirejson

import "slices"

// Shape lists the members of one kind of object in a request: those that are
// read, and those that are known and of no use here. All others are ignored as
// well, but their names are logged once.
type Shape struct {
	Read, Ignored []string
}

func (s *Shape) knows(name string) bool {
	return slices.Contains(s.Read, name) || slices.Contains(s.Ignored, name)
}
