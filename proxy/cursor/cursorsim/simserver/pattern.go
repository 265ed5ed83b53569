package simserver

import (
	"regexp"
	"sync"
)

// pattern makes a regular expression that is compiled at its first use: most
// starts of the program need none of them.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
