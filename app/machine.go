package app

import (
	"context"
	"sync"
	"time"
)

const (
	noticeTime = 10 * time.Second
	// A timer that is not armed is one that waits for longer than anybody.
	never = 1 << 62 * time.Nanosecond
)

// machine is the mutable state. Only the goroutine of Run touches it; the
// goroutines it starts come back through the inbox.
type machine struct {
	app  *App
	life context.Context // of everything the machine starts; cancelled when it is over
	snap Snapshot
	err  error

	tasks     sync.WaitGroup
	work      context.Context // of errands that are worth nothing once the App quits
	endWork   context.CancelFunc
	quitting  bool
	server    server
	health    health
	login     login
	plan      planWatch
	talks     conversations
	editors   editorsWatch
	pages     pages
	notified  string        // the kinds of notifications that are shown when any are
	throttle  *time.Timer   // until activity may be shown again
	recheck   *time.Timer   // until the back-end is checked again
	noticeEnd *time.Timer   // until the notice is taken away
	ages      *time.Timer   // until ages are told anew
	guardLook *time.Timer   // until the guard is looked at again
	saving    chan struct{} // closed when all is stored that was to be; nil: nothing was
	clock     *time.Ticker
	lastLook  time.Time // at the clock on the wall
}

func newMachine(a *App, life context.Context) *machine {
	m := &machine{
		app:       a,
		life:      life,
		snap:      a.hub.get(),
		throttle:  time.NewTimer(never),
		recheck:   time.NewTimer(never),
		noticeEnd: time.NewTimer(never),
		ages:      time.NewTimer(never),
		guardLook: time.NewTimer(never),
		clock:     time.NewTicker(wakeInterval),
	}
	m.lastLook = m.wall()
	m.work, m.endWork = context.WithCancel(life)
	m.server.addr = a.cfg.Addr
	m.notified = a.cfg.Notifications
	return m
}

// begin starts the proxy, unless what was asked for before Run says otherwise.
func (m *machine) begin() {
	m.server.want = true
	for _, step := range m.app.inbox.take() {
		step(m)
	}
	if m.server.want {
		m.startProxy()
	}
	m.recheck.Reset(firstCheck)
	m.readKey()
	m.readLedger()
	m.lookForEditors(firstEditorsLook)
	m.readAutostart()
	if m.app.cfg.Account == nil {
		m.loadModels(false)
	}
	m.readAccount()
}

func (m *machine) stopTimers() {
	m.endWork()
	m.throttle.Stop()
	m.recheck.Stop()
	m.noticeEnd.Stop()
	m.ages.Stop()
	m.guardLook.Stop()
	m.clock.Stop()
}

// over says that Run has nothing left to do.
func (m *machine) over() bool {
	return m.quitting && (m.snap.Proxy.State == Stopped || m.snap.Proxy.State == Blocked)
}

// spawn runs an errand in a goroutine that Run waits for. What errand returns
// is done by the machine afterwards.
func (m *machine) spawn(ctx context.Context, errand func(ctx context.Context) func(*machine)) {
	m.tasks.Go(func() { m.app.inbox.put(errand(ctx)) })
}

func (m *machine) do(action Action) {
	switch a := action.(type) {
	case Quit:
		m.quit()
	case StopProxy:
		m.stopProxy()
	case StartProxy:
		m.startProxy()
	case CopyBaseURL:
		m.copyBaseURL()
	case CopyKey:
		m.copyKey()
	case CopyAnthropicURL:
		m.copyAnthropicURL()
	case CopyEnvironment:
		m.copyEnvironment()
	case UseNextPort:
		m.useNextPort()
	case SetStartProxy:
		m.setStartProxy(a.On)
	case OpenSettingsFile:
		m.openSettingsFile()
	case OpenLink:
		m.openLink(a.Page)
	case SignIn:
		m.signIn(!a.NoBrowser)
	case SignInWithKey:
		m.explainKey()
	case CancelSignIn:
		m.cancelSignIn()
	case OpenLoginPage:
		m.openLoginPage()
	case CopyLoginURL:
		m.copyLoginURL()
	case KeepLoginInFile:
		m.keepLoginInFile()
	case SignOut:
		m.signOut()
	case CopyModel:
		m.copyModel(a.ID)
	case ChooseModel:
		m.chooseModel(a.ID)
	case Refresh:
		m.refresh()
	case ChooseBackend:
		m.chooseBackend(a.Setting)
	case MenuOpened:
		m.menuOpened()
		m.readAutostart()
	case OpenDashboard:
		m.openDashboard(a.Page)
	case SetAutostart:
		m.setAutostart(a.On)
	case RecordNext:
		m.recordNext()
	case CancelRecord:
		m.cancelRecord()
	case SetNotifications:
		m.setNotifications(a.On)
	case ChooseNotifications:
		m.chooseNotifications(a.Kinds)
	case TrayMissing:
		m.snap.NoTray = a.Reason
	case OpenLogFile:
		m.openLogFile()
	case SetUpEditor:
		m.setUpEditor(a.ID)
	case UndoEditor:
		m.undoEditor(a.ID)
	case SwitchEditor:
		m.switchEditor(a.ID, a.Off)
	case LookForEditors:
		m.lookForEditors(0)
	case AllowSpending:
		m.allowSpending(a.For)
	case Recheck:
		m.recheckAll()
	}
}

// recheckAll looks again at everything that could be wrong.
func (m *machine) recheckAll() {
	m.health.failed = nil
	m.check()
	m.app.cfg.Keys.Reload()
	m.readKey()
	if m.app.cfg.Account != nil && (!m.login.known.SignedIn || m.login.known.Problem != nil) {
		m.app.cfg.Account.Reload()
	}
	m.readAccount()
}

func (m *machine) quit() {
	if m.quitting {
		m.server.cut()
		return
	}
	m.quitting = true
	m.endWork()
	m.stopProxy()
}

func (m *machine) notify(text string) {
	m.snap.Notice = Notice{Text: text, N: m.snap.Notice.N + 1}
	m.noticeEnd.Reset(noticeTime)
}

// countActive shows how many requests run, and looks again after a while
// instead of being told each change.
func (m *machine) countActive() {
	a := &m.app.active
	a.posted.Store(false)
	n := int(a.n.Load())
	if n == m.snap.Proxy.Active {
		return
	}
	m.snap.Proxy.Active = n
	if !m.quitting {
		a.posted.Store(true)
		m.throttle.Reset(activityInterval)
	}
}
