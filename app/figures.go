package app

import (
	"strconv"
	"strings"

	"cursortray/proxy/chat"
)

// Texts for figures, the same on every face.

// ContextLine tells how full the conversation's window is: "Context 45K / 256K
// (17.6%)". A nil context was never reported. A stale one is of an earlier
// turn, because the last one did not report any.
func ContextLine(c *chat.Context, stale bool) string {
	if c == nil {
		return "Context —"
	}
	line := "Context " + TokenCount(c.Used)
	if c.Max > 0 {
		line += " / " + TokenCount(c.Max) + " (" + percent(c.Used, c.Max) + ")"
	}
	if stale {
		line += " · last turn"
	}
	return line
}

// ModelText names a model, and the one that Cursor chose if the first leaves
// that to it: "auto → Composer 2.5".
func ModelText(id, routed string) string {
	if routed == "" {
		return id
	}
	return id + " → " + routed
}

// ContextParts tells what the window holds: "System prompt 1K · Tools 9K". The
// parts are estimates; where they do not add up, that is said.
func ContextParts(c *chat.Context) string {
	if c == nil || len(c.Parts) == 0 {
		return ""
	}
	var parts []string
	sum := 0
	for _, p := range c.Parts {
		label := p.Label
		if label == "" {
			label = p.ID
		}
		parts = append(parts, label+" "+TokenCount(p.Tokens))
		sum += p.Tokens
	}
	text := strings.Join(parts, " · ")
	if sum != c.Used {
		text += " (approx.)"
	}
	return text
}

// ContextPercent is how full the window is, with one decimal, half of one
// rounded up, from 0 to 100; false if that is not known.
func ContextPercent(c *chat.Context) (percent float64, ok bool) {
	if c == nil || c.Max <= 0 {
		return 0, false
	}
	used, whole := bounded(c.Used), bounded(c.Max)
	return float64(min(1000, (used*2000+whole)/(2*whole))) / 10, true
}

// CostText is what a conversation costs so far: "$1.39", "over $1.39" if that is
// not all, "" if nothing is known.
func CostText(c Conversation) string {
	switch {
	case c.Cost.IsZero():
		return ""
	case c.Unpriced || c.Rough:
		return "over " + c.Cost.Short()
	}
	return c.Cost.Short()
}

// ContextLeft returns how many tokens still go into the window; false if that
// is not known.
func ContextLeft(c *chat.Context) (tokens int, ok bool) {
	if c == nil || c.Max <= 0 {
		return 0, false
	}
	return max(0, c.Max-max(0, c.Used)), true
}

// TokenCount is a number of tokens in three or four digits: "950", "84.3K",
// "1.05M".
func TokenCount(n int) string {
	count := bounded(n)
	switch {
	case count < 1000:
		return strconv.FormatInt(count, 10)
	case count < 999_950:
		return decimal((count+50)/100, 1) + "K"
	}
	return decimal((count+5000)/10_000, 2) + "M"
}

// percent is part of whole with one decimal, half of one rounded up, from 0 to
// 100.
func percent(part, whole int) string {
	p, w := bounded(part), bounded(whole)
	if p >= w {
		return "100%"
	}
	return decimal((p*2000+w)/(2*w), 1) + "%"
}

// bounded keeps what a server may send in reach of the arithmetic here.
func bounded(n int) int64 { return min(max(0, int64(n)), 1e15) }

// decimal is n with its last digits behind a point, without zeros at the end.
func decimal(n int64, digits int) string {
	text := strconv.FormatInt(n, 10)
	if short := digits + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	point := len(text) - digits
	return strings.TrimSuffix(text[:point]+"."+strings.TrimRight(text[point:], "0"), ".")
}
