package tray

import (
	"strings"

	"cursortray/app"
	"cursortray/assets"
)

// tooltipLimit keeps a tooltip within the 127 UTF-16 units that Windows takes;
// a longer one loses its end mark there.
const tooltipLimit = 120

// icon is the picture for s. What needs the user comes first.
func icon(s app.Snapshot) assets.State {
	switch p := s.Proxy; {
	case p.State == app.Blocked || s.KeyProblem != "" || s.Account.Problem != nil || s.Backend.Problem != nil:
		return assets.Problem
	case p.State == app.Starting || p.State == app.Stopping || p.Active > 0 || s.Account.State == app.LoginPending:
		return assets.Busy
	case p.State == app.Running:
		return assets.Running
	default:
		return assets.Stopped
	}
}

// tooltip says in a line what the icon says.
func tooltip(s app.Snapshot) string {
	parts := []string{"cursortray"}
	if s.Demo {
		parts[0] = "cursortray demo"
	}
	parts = append(parts, strings.TrimLeft(statusTitle(s), "●○! "))
	if heading, _, _ := problem(s); heading != "" {
		parts = append(parts, strings.TrimLeft(heading, "! "))
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
