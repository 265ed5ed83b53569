package spend

import (
	"fmt"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/money"
)

// CodePrefix is how the codes of all refusals begin.
const CodePrefix = "spend_limit"

// reached is a limit that was reached.
type reached struct {
	setting string // the name of the limit: runs_hour, ...
	limit   string // in words: 600 runs an hour
	used    string // as much as was used
	span    string // in which it was
	own     bool   // the limit is that of the editor, not of all together
	editor  string
	free    time.Time
}

// of makes it a limit of one editor.
func (r *reached) of(editor string) *reached {
	if r != nil {
		r.own, r.editor = true, editor
	}
	return r
}

// reaches returns the limit that is reached and lasts longest; nil is none.
func (u *usage) reaches(l Limits, now time.Time) *reached {
	u.hour.settle(now)
	u.day.settle(now)
	var hit *reached
	see := func(w *window, span, every string, runs int, cost money.Amount) {
		r := &reached{span: span}
		switch {
		case runs > 0 && w.runs >= runs:
			r.setting, r.free = "runs_"+span, w.freeAt(runs, 0)
			r.limit, r.used = countRuns(runs)+" "+every, countRuns(w.runs)
		case !cost.IsZero() && w.cost >= cost.Pico():
			r.setting, r.free = "money_"+span, w.freeAt(0, cost.Pico())
			r.limit, r.used = cost.Dollars()+" "+every, money.OfPico(w.cost).Dollars()
		default:
			return
		}
		if hit == nil || r.free.After(hit.free) {
			hit = r
		}
	}
	see(&u.hour, "hour", "an hour", l.RunsHour, money.Amount{})
	see(&u.hour, "hour", "an hour", 0, l.MoneyHour)
	see(&u.day, "day", "a day", l.RunsDay, money.Amount{})
	see(&u.day, "day", "a day", 0, l.MoneyDay)
	return hit
}

func countRuns(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// String says which limit it is: "600 runs an hour for all editors together".
func (r *reached) String() string { return r.limit + " for " + r.whose() }

func (r *reached) whose() string {
	switch {
	case !r.own:
		return "all editors together"
	case r.editor == "":
		return "clients with the main key"
	}
	return r.editor
}

// refusal is the error for the client. Its time is that of the computer's zone,
// where the user sits.
func (r *reached) refusal(now time.Time) *chat.Error {
	wait := r.free.Sub(now)
	at := r.free.Format("15:04")
	if r.free.YearDay() != now.YearDay() {
		at = r.free.Format("Jan 2, 15:04")
	}
	setting := "spend_" + r.setting
	if r.own {
		setting = "spend_editors"
	}
	return &chat.Error{
		Kind: chat.RateLimited,
		Code: CodePrefix + "_" + r.setting,
		Message: fmt.Sprintf("your limit in cursortray of %s is reached: %s in the last %s. It is free again at %s. "+
			"To go on now, choose \"Allow for an hour\" in its menu or run: cursortray allow. To change it, see %s in: cursortray help settings",
			r.String(), r.used, r.span, at, setting),
		RetryAfter: max(time.Second, wait),
	}
}
