package tray

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cursortray/app"
)

const (
	// conversationSlots is how many rows for conversations there are.
	conversationSlots = 10
	// partLines is how many rows tell what the newest one's window holds.
	partLines = 3
	barLength = 10
	// fullPercent is what is marked.
	fullPercent = 80
)

// conversationsMenu has a row for each conversation, the newest first, and what
// the window of that one holds. A click shows them on the dashboard.
func conversationsMenu(s app.Snapshot) Item {
	newest, ok := s.Conversations.Newest()
	title, head := menuTalks, talksNone
	if ok {
		title, head = fmt.Sprintf(menuTalksN, len(s.Conversations.All)), contextLine(newest)
	}
	menu := submenu("talks", title, text("talks.head", head))
	for i := range conversationSlots {
		title := ""
		if s.Conversations != nil && i < len(s.Conversations.All) {
			title = conversationTitle(s.Conversations.All[i])
		}
		row := choice(fmt.Sprintf("talk.%d", i+1), title, app.OpenDashboard{Page: "conversations"})
		menu.Items = append(menu.Items, hiddenIf(title == "", row))
	}
	menu.Items = append(menu.Items, noteRows("talks.part", partLines, app.ContextParts(newest.Context))...)
	return menu
}

func contextLine(c app.Conversation) string {
	return app.ContextLine(c.Context, c.Context != nil && c.Context.Stale)
}

// conversationTitle is how full the window is, as a bar and in figures, the
// model, the turns and the price. The model's name gives way to the rest.
func conversationTitle(c app.Conversation) string {
	head, tail := contextUnknown, " - "+oneTurn
	if c.Turns != 1 {
		tail = " - " + fmt.Sprintf(manyTurns, c.Turns)
	}
	if cost := app.CostText(c); cost != "" {
		tail += " - " + cost
	}
	if percent, ok := app.ContextPercent(c.Context); ok {
		head = bar(percent) + fmt.Sprintf(" %.4g%%", percent)
		if percent > fullPercent {
			head = "! " + head
		}
	} else if c.Context != nil {
		head = fmt.Sprintf(contextUsed, app.TokenCount(c.Context.Used))
	}
	room := maxTitle - utf8.RuneCountInString(head) - 1 - utf8.RuneCountInString(tail)
	return head + " " + shorten(app.ModelText(c.Model, c.Routed), room) + tail
}

// bar shows a percentage. Its characters are among those that every desktop was
// seen to have.
func bar(percent float64) string {
	full := min(barLength, int(percent/100*barLength+0.5))
	return strings.Repeat("●", full) + strings.Repeat("○", barLength-full)
}
