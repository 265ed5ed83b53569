package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"cursortray/app"
)

func conversationsPage() *page {
	return &page{
		name: "conversations", title: "Conversations",
		parts: []string{"conversations.list", "conversations.one"},
		view:  func(_ *Dashboard, v *visit) any { return conversationsOf(v) },
	}
}

// talk is a conversation for people.
type talk struct {
	N       int
	Model   string
	Turns   int
	Cost    string
	Last    time.Time
	Line    string // how full its window is
	Percent float64
	Known   bool // Percent is
	Stale   bool
	Mood    string
	Slices  []slice
	Left    string // room, in tokens
	Points  int    // of its plot
	Current bool
}

// slice is a part of a window, placed on a scale from 0 to 1000.
type slice struct {
	Label    string
	Tokens   int
	Percent  string
	X, Width int
	Color    int // counts the colours
}

type conversations struct {
	Talks   []talk
	Current *talk
}

func conversationsOf(v *visit) conversations {
	c := conversations{Talks: talksOf(v)}
	wanted, _ := strconv.Atoi(v.query.Get("n"))
	for i := range c.Talks {
		if c.Talks[i].N == wanted || wanted == 0 && i == 0 {
			c.Talks[i].Current, c.Current = true, &c.Talks[i]
		}
	}
	return c
}

func talksOf(v *visit) []talk {
	if v.snap.Conversations == nil {
		return nil
	}
	var list []talk
	for _, c := range v.snap.Conversations.All {
		t := talk{
			N: c.N, Model: c.Model, Turns: c.Turns, Cost: app.CostText(c), Last: c.Last, Mood: "good",
			Line: app.ContextLine(c.Context, false), Points: len(c.Course),
		}
		if t.Percent, t.Known = app.ContextPercent(c.Context); t.Known {
			switch {
			case t.Percent >= 90:
				t.Mood = "bad"
			case t.Percent >= 75:
				t.Mood = "busy"
			}
		}
		if left, ok := app.ContextLeft(c.Context); ok {
			t.Left = app.TokenCount(left)
		}
		t.Stale = c.Context != nil && c.Context.Stale
		t.Slices = slicesOf(c)
		list = append(list, t)
	}
	return list
}

// colors is how many colours slices have.
const colors = 8

// slicesOf places the parts of a window side by side. The parts are estimates;
// where they are more than the window, all of them shrink.
func slicesOf(c app.Conversation) []slice {
	if c.Context == nil || len(c.Context.Parts) == 0 {
		return nil
	}
	sum := 0
	for _, p := range c.Context.Parts {
		sum += max(0, p.Tokens)
	}
	whole := max(sum, c.Context.Max, 1)
	var list []slice
	x := 0
	for i, p := range c.Context.Parts {
		s := slice{Label: p.Label, Tokens: max(0, p.Tokens), X: x, Color: i % colors}
		if s.Label == "" {
			s.Label = p.ID
		}
		s.Width = int(int64(s.Tokens) * 1000 / int64(whole))
		s.Percent = fmt.Sprintf("%.1f%%", float64(s.Tokens)*100/float64(whole))
		x += s.Width
		list = append(list, s)
	}
	return list
}

// plot is data for the script that draws: columns of equal length, the first of
// them for the horizontal axis.
type plot struct {
	Kind   string       `json:"kind"` // "context" or "days"
	Unit   string       `json:"unit"` // "tokens", "dollars" or "requests"
	X      []int64      `json:"x"`
	Series []plotSeries `json:"series"`
}

type plotSeries struct {
	Label  string     `json:"label"`
	Values []*float64 `json:"values"` // null is not known
}

// contextData is how full a conversation's window was after each turn.
func (d *Dashboard) contextData(w http.ResponseWriter, r *http.Request, _ *session) {
	wanted, _ := strconv.Atoi(r.URL.Query().Get("n"))
	data := plot{Kind: "context", Unit: "tokens", X: []int64{}, Series: []plotSeries{{Label: "Used"}, {Label: "Window"}}}
	if list := d.cfg.App.Snapshot().Conversations; list != nil {
		for _, c := range list.All {
			if c.N != wanted {
				continue
			}
			for i, p := range c.Course {
				data.X = append(data.X, int64(i+1))
				used := float64(p.Used)
				data.Series[0].Values = append(data.Series[0].Values, &used)
				var window *float64
				if p.Max > 0 {
					m := float64(p.Max)
					window = &m
				}
				data.Series[1].Values = append(data.Series[1].Values, window)
			}
		}
	}
	writeJSON(w, data)
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a failed write means that the browser has left
}
