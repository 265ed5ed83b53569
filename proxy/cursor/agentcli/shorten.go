package agentcli

// maxString is what a shortened string keeps: more than any reason or id has.
const maxString = 4 << 10

// shortener cuts the long strings of a JSON text that arrives in pieces, so
// that a tool result of many megabytes need not be held. Valid JSON stays
// valid.
type shortener struct {
	inString bool
	dropping bool // the rest of the string is left out
	kept     int  // bytes of the string
	escape   int  // kindByte, or hex digits that are still to come
}

const kindByte = -1 // the byte behind a backslash comes next

func (s *shortener) skipped() {}

// run implements lineFilter.
func (s *shortener) run(line []byte, from int) (kept, done int) {
	kept = from + s.shorten(line[from:])
	return kept, kept
}

// shorten works in place and returns how much of b is left.
func (s *shortener) shorten(b []byte) int {
	w := 0
	for i := 0; i < len(b); i++ {
		if s.dropping && s.escape == 0 {
			if i, _ = special(b, i); i == len(b) {
				break
			}
		}
		c := b[i]
		s.step(c)
		if !s.dropping {
			b[w] = c
			w++
			s.kept++
		}
	}
	return w
}

func (s *shortener) step(c byte) {
	switch {
	case !s.inString:
		s.inString = c == '"'
		s.kept = 0
	case s.escape == kindByte:
		s.escape = 0
		if c == 'u' {
			s.escape = 4
		}
	case s.escape > 0:
		s.escape--
	case c == '"':
		s.inString, s.dropping = false, false
	default:
		s.dropping = s.dropping || s.kept >= maxString
		if c == '\\' {
			s.escape = kindByte
		}
	}
}
