package config

import "strings"

// Choices returns all values that the setting takes, if they are few words; nil
// if there are others.
func (s Setting) Choices() []string {
	most, last, found := strings.Cut(s.Values, " or ")
	if !found {
		return nil
	}
	choices := append(strings.Split(most, ", "), last)
	for _, choice := range choices {
		if choice == "" || strings.Contains(choice, " ") {
			return nil
		}
	}
	return choices
}
