package cursor

import (
	"fmt"
	"time"
)

// planInterval is how long the figures are good: older ones are shown with
// their age.
const planInterval = 10 * time.Minute

// PlanLine is one line about a plan, for a menu.
type PlanLine struct{ Label, Value string }

// Title names the plan and the day of its reset: "Cursor Pro · resets 9 Nov".
func (p Plan) Title(zone *time.Location) string {
	title := "Cursor"
	if p.Name != "" {
		title += " " + p.Name
	}
	if !p.Resets.IsZero() {
		title += " · resets " + p.Resets.In(zone).Format("2 Jan")
	}
	return title
}

// Lines returns what there is to show of the usage.
func (p Plan) Lines() []PlanLine {
	if p.State == PlanNotReported {
		return []PlanLine{{"Usage", "not available for this plan"}}
	}
	var lines []PlanLine
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, PlanLine{label, value})
		}
	}
	add("Cursor models", p.CursorModels.String())
	add("Other models", p.OtherModels.String())
	if !p.Team { // seats report the sums of another plan
		add("Included", p.included())
	}
	if p.Requests.Limit > 0 {
		add("Requests", fmt.Sprintf("%d of %d (%s)", p.Requests.Used, p.Requests.Limit, p.Requests.Percent()))
	}
	add("On-demand", p.OnDemand.text())
	add("Team pool", p.Pool.text())
	if !p.Credits.IsZero() {
		add("Credits", p.Credits.Dollars()+" left")
	}
	add("Limit", p.Stage.text())
	return lines
}

func (p Plan) included() string {
	text := p.Included.text()
	if text != "" && !p.Bonus.IsZero() {
		text += " (+ " + p.Bonus.Dollars() + " bonus)"
	}
	return text
}

func (a Amount) text() string {
	if a.Limit.IsZero() {
		return ""
	}
	return a.Used.Dollars() + " of " + a.Limit.Dollars()
}

func (o OnDemand) text() string {
	switch {
	case o.State == OnDemandOff:
		return "off"
	case o.State == "":
		return ""
	case o.Limit.IsZero():
		return o.Used.Dollars()
	}
	return Amount{o.Used, o.Limit}.text()
}

func (s Stage) text() string {
	switch s {
	case StageAutoSwitch:
		return "Cursor chooses the model"
	case StageSlowPool:
		return "answers are slower"
	case StageHardBlock:
		return "no more answers"
	}
	return ""
}

// Age tells how old the figures are, in words, "" if they are as good as new.
func (p Plan) Age(now time.Time) string {
	age := now.Sub(p.Fetched)
	switch {
	case p.Fetched.IsZero() || age <= planInterval:
		return ""
	case age < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(age.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(age.Hours()/24))
}
