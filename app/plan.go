package app

import (
	"context"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// MaxPlanLines is how many lines there are about a plan.
const MaxPlanLines = 8

// ageInterval is how often ages are told anew.
const ageInterval = time.Minute

// PlanStatus is how much of the plan is used.
type PlanStatus struct {
	Title string // the plan and its reset, "" when nothing is known
	Lines [MaxPlanLines]PlanLine
	Age   string // of the figures, in words; "" when they are as good as new
	// Problem says why there are no newer figures; nil when there are.
	Problem *chat.Error
}

// PlanLine is one line about a plan. Unused ones are empty.
type PlanLine struct{ Label, Value string }

// planWatch is the machine's hold on the figures of the plan.
type planWatch struct {
	watch  PlanWatch // nil while nobody is logged in
	stop   context.CancelFunc
	latest cursor.Plan
}

// watchPlan begins to follow the figures when somebody has logged in, and ends
// it when nobody is.
func (m *machine) watchPlan() {
	p, account := &m.plan, m.app.cfg.Account
	switch in := m.login.known.SignedIn; {
	case in && p.watch == nil:
		ctx, stop := context.WithCancel(m.work)
		p.stop = stop
		watch := account.WatchPlan(func(plan cursor.Plan, err error) {
			m.app.inbox.put(func(m *machine) {
				if ctx.Err() == nil {
					m.planRead(plan, chat.AsError(err))
				}
			})
		})
		p.watch = watch
		// Not p.watch: a logout may have emptied it before this runs.
		m.tasks.Go(func() { watch.Run(ctx) })
	case !in && p.watch != nil:
		p.stop()
		m.plan = planWatch{}
		m.snap.Plan = PlanStatus{}
	}
}

func (m *machine) planRead(plan cursor.Plan, problem *chat.Error) {
	if problem != nil && problem.Kind == chat.Canceled {
		return
	}
	if problem != nil {
		m.app.cfg.Logger.Info("the plan's figures could not be fetched", "problem", problem.Message)
	}
	m.plan.latest = plan
	status := planStatus(plan, problem)
	status.Problem = kept(m.snap.Plan.Problem, status.Problem)
	m.snap.Plan = status
	m.showAges()
}

// planStatus puts figures into words.
func planStatus(plan cursor.Plan, problem *chat.Error) PlanStatus {
	s := PlanStatus{Problem: problem}
	if plan.Fetched.IsZero() {
		return s
	}
	s.Title, s.Age = plan.Title(time.Local), plan.Age(time.Now())
	for i, line := range plan.Lines() {
		if i < MaxPlanLines {
			s.Lines[i] = PlanLine(line)
		}
	}
	return s
}

// showAges tells how old the figures and the list are, again and again as long
// as there are any.
func (m *machine) showAges() {
	if !m.plan.latest.Fetched.IsZero() {
		m.snap.Plan.Age = m.plan.latest.Age(time.Now())
	}
	m.snap.Models.Age = ""
	if catalog := m.app.catalog.Load(); catalog != nil {
		age := time.Since(catalog.Fetched())
		if age >= modelsOld || m.snap.Models.Problem != nil && age >= ageInterval {
			m.snap.Models.Age = ageText(age)
		}
	}
	m.ageConversations()
	m.ages.Reset(ageInterval)
}

// refresh fetches everything that Cursor knows of the account.
func (m *machine) refresh() {
	if m.plan.watch != nil {
		m.plan.watch.Refresh()
	}
	m.loadModels(true)
	m.readAccount()
}

func (m *machine) menuOpened() {
	if m.plan.watch != nil {
		m.plan.watch.MenuOpened()
	}
	m.lookForEditors(0)
}

// runEnded is called after a request: it has used some of the plan.
func (m *machine) runEnded() {
	if m.plan.watch != nil {
		m.plan.watch.RunEnded()
	}
}

// Usage is what Plan tells.
type Usage struct {
	PlanStatus
	Figures cursor.Plan
}

// Plan asks for the figures of the plan: for new ones, or those that are good
// enough for a menu. There may be old figures and a Problem.
func (a *App) Plan(ctx context.Context, fresh bool) (Usage, error) {
	if a.cfg.Account == nil {
		return Usage{}, noAccount()
	}
	return PlanOf(ctx, a.cfg.Account, fresh)
}

// goodEnough is how old figures may be that somebody asks for.
const goodEnough = 30 * time.Second

// PlanOf asks for the figures of an account.
func PlanOf(ctx context.Context, account Plans, fresh bool) (Usage, error) {
	maxAge := goodEnough
	if fresh {
		maxAge = 0
	}
	plan, err := account.Plan(ctx, maxAge)
	if e := chat.AsError(err); e != nil && e.Kind == chat.Canceled && ctx.Err() == nil {
		plan, err = account.Plan(ctx, maxAge) // somebody has logged in or out during the call
	}
	if err != nil && plan.Fetched.IsZero() {
		return Usage{}, err
	}
	return Usage{planStatus(plan, chat.AsError(err)), plan}, nil
}
