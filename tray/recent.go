package tray

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cursortray/app"
)

// recentSlots is how many rows for requests there are.
const recentSlots = 10

// requestOK is the outcome of a request that was answered.
const requestOK = "ok"

// recentMenu has a row for each of the last requests. A click shows them on the
// dashboard.
func recentMenu(s app.Snapshot) Item {
	var all []app.Request
	head := recentNone
	if s.Recent != nil && len(s.Recent.All) > 0 {
		all, head = s.Recent.All, recentSome
	}
	menu := submenu("recent", menuRecent, text("recent.head", head))
	for i := range recentSlots {
		title := ""
		if i < len(all) {
			title = requestTitle(all[i])
		}
		row := choice(fmt.Sprintf("recent.%d", i+1), title, app.OpenDashboard{Page: "requests"})
		menu.Items = append(menu.Items, hiddenIf(title == "", row))
	}
	return menu
}

// requestTitle is when, who and what, and what came of it. The model's name
// gives way to the rest.
func requestTitle(r app.Request) string {
	head := r.At.Local().Format("15:04")
	if r.Editor != "" {
		head += " " + r.Editor
	}
	tail := ""
	if r.Context != nil && r.Context.Used > 0 {
		tail += " - " + fmt.Sprintf(recentContext, app.TokenCount(r.Context.Used))
	}
	if cost := dollars(r.Cost); cost != "" {
		tail += " - " + cost
	}
	if r.Outcome != requestOK {
		head, tail = "! "+head, tail+" - "+shorten(strings.ReplaceAll(r.Outcome, "_", " "), 24)
	}
	head = shorten(head, maxTitle/2)
	model := r.Model
	if plain(model) == "" {
		model = recentNoModel
	}
	room := maxTitle - utf8.RuneCountInString(head) - 1 - utf8.RuneCountInString(tail)
	return clip(head + " " + shorten(model, max(4, room)) + tail)
}

// dollars cuts an exact amount to cents; what is less is said to be.
func dollars(exact string) string {
	whole, rest, _ := strings.Cut(exact, ".")
	switch {
	case exact == "":
		return ""
	case strings.Trim(exact, "0.") == "":
		return "$0"
	}
	cents := (rest + "00")[:2]
	if strings.Trim(whole+cents, "0") == "" {
		return "<$0.01"
	}
	return "$" + whole + "." + cents
}
