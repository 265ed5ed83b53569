package dashboard

import (
	"time"
)

func diagnosisPage() *page {
	return &page{
		name: "diagnosis", title: "Diagnosis",
		parts: []string{"diagnosis.checks", "diagnosis.report", "diagnosis.record"},
		view:  (*Dashboard).diagnosisOf,
	}
}

// Report is what a diagnosis found.
type Report struct {
	OK       bool
	Findings []Finding
	// Text is all of it for a bug report, without names of people, folders of
	// theirs and secrets.
	Text string
}

// Finding is what one check found. State is "ok", "warn" or "fail".
type Finding struct{ Name, State, Detail, Remedy string }

// examined is the last report, and when it was made; zero: never.
type examined struct {
	Report
	At time.Time
}

type diagnosis struct {
	Can       bool
	Report    examined
	Done      bool
	Failed    int
	Doubtful  int
	Recording recordingView
}

type recordingView struct {
	Waiting bool
	N       int
	Path    string
	Problem string
}

func (d *Dashboard) diagnosisOf(v *visit) any {
	d.mu.Lock()
	last := d.report
	d.mu.Unlock()
	view := diagnosis{Can: d.cfg.Diagnose != nil, Report: last, Done: !last.At.IsZero()}
	for _, f := range last.Findings {
		switch f.State {
		case "fail":
			view.Failed++
		case "warn":
			view.Doubtful++
		}
	}
	r := v.snap.Recording
	view.Recording = recordingView{Waiting: r.Waiting, N: r.N, Path: r.Path, Problem: r.Problem}
	return view
}

// examine makes a new report, in the goroutine of the request that asks for it.
func (d *Dashboard) examine(f *form) (string, error) {
	if d.cfg.Diagnose == nil {
		return "", errNotHere
	}
	report := d.cfg.Diagnose(f.ctx)
	if f.ctx.Err() != nil {
		return "", f.ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report = examined{report, d.cfg.Now()}
	return "Checked", nil
}
