package control

import (
	"encoding/json"
	"net/http"

	"cursortray/app"
)

// Usage is what `cursortray usage --json` prints.
type Usage struct {
	Title   string          `json:"title"`             // the plan and its reset, for people
	Lines   []Line          `json:"lines"`             // the figures, for people; never null
	Age     string          `json:"age,omitempty"`     // of the figures, if they are not new
	Problem string          `json:"problem,omitempty"` // why there are no newer ones
	Figures json.RawMessage `json:"figures"`           // the same for programs
}

// Line is one line about a plan.
type Line struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// UsageOf translates what the App tells.
func UsageOf(u app.Usage) (Usage, error) {
	figures, err := json.Marshal(u.Figures)
	if err != nil {
		return Usage{}, err
	}
	usage := Usage{Title: u.Title, Lines: []Line{}, Age: u.Age, Figures: figures}
	for _, l := range u.Lines {
		if l != (app.PlanLine{}) {
			usage.Lines = append(usage.Lines, Line(l))
		}
	}
	if u.Problem != nil {
		usage.Problem = u.Problem.Message
	}
	return usage, nil
}

func (s *server) usage(w http.ResponseWriter, r *http.Request) {
	got, err := s.cfg.Account.Plan(r.Context(), r.FormValue("fresh") == "yes")
	if err != nil {
		refuse(w, err)
		return
	}
	usage, err := UsageOf(got)
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, usage)
}
