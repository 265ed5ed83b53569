package chat

import (
	"iter"
	"strings"
)

// StopAt cuts a turn before the first occurrence of any of stops in its text,
// across deltas: the turn then ends with Finish{Stop}, naming the text in
// StopText, and the rest of the upstream turn is given up, so that its usage
// stays unknown. Text is held back only while it could be the beginning of a
// stop text. Reasoning and calls are passed on as they come. Empty elements
// are ignored; without any other the turn is returned as it is.
func StopAt(turn iter.Seq2[Event, error], stops []string) iter.Seq2[Event, error] {
	s := stopScanner{}
	for _, text := range stops {
		if text != "" {
			s.stops = append(s.stops, text)
		}
	}
	if len(s.stops) == 0 {
		return turn
	}
	return func(yield func(Event, error) bool) {
		s := s // each turn scans for itself
		for event, err := range turn {
			if delta, ok := event.(TextDelta); ok && err == nil {
				text, hit := s.next(delta.Text)
				if text != "" && !yield(TextDelta{text}, nil) {
					return
				}
				if hit != "" {
					yield(Finish{Reason: Stop, StopText: hit}, nil)
					return
				}
				continue
			}
			// What was held back turned out to be plain text.
			if s.held != "" {
				text := s.held
				s.held = ""
				if !yield(TextDelta{text}, nil) {
					return
				}
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

type stopScanner struct {
	stops []string
	held  string // a proper prefix of some stop text, not yet handed on
}

// next returns the text that can be handed on and the stop text that was hit.
func (s *stopScanner) next(delta string) (text, hit string) {
	buf := s.held + delta
	s.held = ""
	at := -1
	for _, stop := range s.stops {
		if i := strings.Index(buf, stop); i >= 0 && (at < 0 || i < at || i == at && len(stop) > len(hit)) {
			at, hit = i, stop
		}
	}
	if at >= 0 {
		return buf[:at], hit
	}
	hold := 0
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(buf)); n > hold; n-- {
			if strings.HasSuffix(buf, stop[:n]) {
				hold = n
				break
			}
		}
	}
	s.held = buf[len(buf)-hold:]
	return buf[:len(buf)-hold], ""
}
