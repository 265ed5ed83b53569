package tray

import (
	"strings"

	"cursortray/app"
	"cursortray/assets"
)

// tooltipLimit keeps a tooltip within the 127 UTF-16 units that Windows takes;
// a longer one loses its end mark there.
const tooltipLimit = 120

// icon is the picture for s.
func icon(s app.Snapshot) assets.State { return conditionOf(s).icon }

// tooltip says in a line what the icon says, and how full the window of the
// newest conversation is.
func tooltip(s app.Snapshot) string {
	c := conditionOf(s)
	parts := []string{"cursortray"}
	if s.Demo {
		parts[0] = "cursortray demo"
	}
	parts = append(parts, strings.TrimLeft(c.title, "●○! "))
	if !c.proxy {
		parts = append(parts, strings.TrimLeft(proxyTitle(s.Proxy), "●○! "))
	}
	if newest, ok := s.Conversations.Newest(); ok && newest.Context != nil {
		parts = append(parts, contextLine(newest))
	}
	tip := plain(strings.Join(parts, " - "))
	units := 0
	for i, r := range tip {
		units++
		if r > 0xffff {
			units++
		}
		if units > tooltipLimit {
			return tip[:i]
		}
	}
	return tip
}
