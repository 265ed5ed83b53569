package spend

import (
	"slices"
	"time"

	"cursortray/proxy/money"
)

// window is what was used in the time that lies behind, in steps that are
// short beside it: what is a step older than the window is out.
type window struct {
	span, step time.Duration
	steps      []step // the oldest first
	runs       int
	cost       int64 // picodollars; one amount of money has room for all that is spent
}

type step struct {
	at   int64 // its number since 1970
	runs int
	cost int64
}

func (w *window) number(at time.Time) int64 { return at.UnixNano() / int64(w.step) }

// settle drops what is out. After a clock that went ahead was set back, what
// seems to come from the future counts as of now.
func (w *window) settle(now time.Time) {
	n := w.number(now)
	if last := len(w.steps) - 1; last >= 0 && w.steps[last].at > n {
		first := slices.IndexFunc(w.steps, func(s step) bool { return s.at > n })
		for i := first + 1; i <= last; i++ {
			w.steps[first].runs += w.steps[i].runs
			w.steps[first].cost += w.steps[i].cost
		}
		w.steps = w.steps[:first+1]
		w.steps[first].at = n
	}
	oldest := n - int64(w.span/w.step)
	out := 0
	for out < len(w.steps) && w.steps[out].at < oldest {
		w.runs -= w.steps[out].runs
		w.cost -= w.steps[out].cost
		out++
	}
	w.steps = slices.Delete(w.steps, 0, out)
}

func (w *window) add(at time.Time, runs int, cost money.Amount) {
	w.settle(at)
	n := w.number(at)
	if last := len(w.steps) - 1; last < 0 || w.steps[last].at < n {
		w.steps = append(w.steps, step{at: n})
	}
	last := &w.steps[len(w.steps)-1]
	// Sums stay in reach, whatever somebody takes for a price.
	pico := min(cost.Pico(), maxCost-w.cost)
	last.runs, last.cost = last.runs+runs, last.cost+pico
	w.runs, w.cost = w.runs+runs, w.cost+pico
}

// maxCost is nine million dollars.
const maxCost = 9_000_000_000_000_000_000

func (w *window) runsAt(now time.Time) int {
	w.settle(now)
	return w.runs
}

func (w *window) costAt(now time.Time) money.Amount {
	w.settle(now)
	return money.OfPico(w.cost)
}

// freeAt returns when so much is out that fewer than runs are left and less
// than cost is; zero bounds are none. It is to be called when settled.
func (w *window) freeAt(runs int, cost int64) time.Time {
	leftRuns, leftCost := w.runs, w.cost
	for _, s := range w.steps {
		leftRuns, leftCost = leftRuns-s.runs, leftCost-s.cost
		if (runs == 0 || leftRuns < runs) && (cost == 0 || leftCost < cost) {
			return time.Unix(0, (s.at+1)*int64(w.step)).Add(w.span)
		}
	}
	return time.Time{}
}
