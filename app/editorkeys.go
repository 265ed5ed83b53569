package app

import (
	"context"
	"slices"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/ledger"
)

// Editors sets editors up. Its methods may be called from any goroutine and may
// take their time; errors are for the user.
type Editors interface {
	// List returns all editors, those that were found first. What is known of
	// their requests is the App's part. With an error the list may still be
	// good, but for who is switched off.
	List(ctx context.Context) ([]EditorStatus, error)
	SetUp(ctx context.Context, id string) (EditorDone, error)
	Undo(ctx context.Context, id string) (EditorDone, error)
	Switch(ctx context.Context, id string, off bool) (EditorDone, error)
}

// EditorDone is what came of it, also of an attempt that failed.
type EditorDone struct {
	Notice string // what was done where
	Copy   string // text for the clipboard, which the user has to paste; it may hold the key
}

// EditorStatus is one editor.
type EditorStatus struct {
	ID, Name string
	Found    bool   // it seems to be installed
	State    string // "not set up", "set up", "changed", "broken" or "by hand"
	Keyed    bool   // it has a local key of its own
	Off      bool   // its requests are refused
	LastUsed time.Time
	Runs     int // requests of the last 24 hours
}

// EditorList is a list of editors. It does not change.
type EditorList struct{ All []EditorStatus }

// Used returns the editors that have asked in the last 24 hours, the latest
// first.
func (l *EditorList) Used() []EditorStatus {
	if l == nil {
		return nil
	}
	used := slices.DeleteFunc(slices.Clone(l.All), func(e EditorStatus) bool { return e.Runs == 0 })
	slices.SortStableFunc(used, func(a, b EditorStatus) int { return b.LastUsed.Compare(a.LastUsed) })
	return used
}

const (
	// firstEditorsLook keeps the search for editors out of the start's way.
	firstEditorsLook = time.Second
	// editorsTime bounds work on an editor; a keychain may have to be unlocked.
	editorsTime = 90 * time.Second
	useHours    = 24
)

// editorsWatch is what the machine knows of editors.
type editorsWatch struct {
	list    []EditorStatus
	used    map[string]*editorUse
	looking bool
	again   bool // another look was asked for while one is under way
}

// editorUse counts requests in the hours of a day, by the clock.
type editorUse struct {
	last time.Time
	hour int64 // of the last request, since 1970
	runs [useHours]int
}

// settle empties the hours that have passed since the last request.
func (u *editorUse) settle(now time.Time) {
	hour := now.Unix() / 3600
	for h := u.hour + 1; h <= hour && h <= u.hour+useHours; h++ {
		u.runs[h%useHours] = 0
	}
	u.hour = max(u.hour, hour)
}

func (u *editorUse) count(now time.Time) int {
	u.settle(now)
	n := 0
	for _, runs := range u.runs {
		n += runs
	}
	return n
}

// editorAsked counts a request.
func (m *machine) editorAsked(client chat.Client, at time.Time) {
	if client.Key == "" {
		return
	}
	u := m.editors.use(client.Key, at)
	u.last = at
	u.runs[u.hour%useHours]++
	m.showEditors()
}

// use returns the counts of an editor, up to the hour of at.
func (w *editorsWatch) use(id string, at time.Time) *editorUse {
	if w.used == nil {
		w.used = map[string]*editorUse{}
	}
	u := w.used[id]
	if u == nil {
		u = &editorUse{hour: at.Unix() / 3600}
		w.used[id] = u
	}
	u.settle(at)
	return u
}

// pastStep is how exactly the ledger tells when an editor asked. Requests of
// the last step before the start may be missed, and none counts twice.
const pastStep = 10 * time.Second

// editorsAsked counts the requests of the time before the start.
func (m *machine) editorsAsked(past []ledger.Load, start time.Time) {
	now := time.Now()
	for _, l := range past {
		if l.Editor == "" || l.At.Add(pastStep).After(start) {
			continue
		}
		u := m.editors.use(l.Editor, now)
		if hour := l.At.Unix() / 3600; hour > u.hour-useHours {
			u.runs[hour%useHours] += l.Runs
		}
		if l.At.After(u.last) {
			u.last = l.At
		}
	}
	m.showEditors()
}

// lookForEditors brings the list up to date.
func (m *machine) lookForEditors(after time.Duration) {
	w := &m.editors
	if m.app.cfg.Editors == nil || m.quitting {
		return
	}
	if w.looking {
		w.again = true
		return
	}
	w.looking, w.again = true, false
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		wait := time.NewTimer(after)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return func(*machine) {}
		}
		ctx, cancel := context.WithTimeout(ctx, editorsTime)
		defer cancel()
		list, err := m.app.cfg.Editors.List(ctx)
		return func(m *machine) {
			if err != nil {
				m.app.cfg.Logger.Debug("the keys of editors cannot be read", "error", err)
			}
			m.editors.looking, m.editors.list = false, list
			m.showEditors()
			if m.editors.again {
				m.lookForEditors(0)
			}
		}
	})
}

// showEditors puts the list and the use together. An editor that has asked is
// shown also when it is not on the list.
func (m *machine) showEditors() {
	w, now := &m.editors, time.Now()
	all := slices.Clone(w.list)
	for id, u := range w.used {
		i := slices.IndexFunc(all, func(e EditorStatus) bool { return e.ID == id })
		if i < 0 {
			i, all = len(all), append(all, EditorStatus{ID: id, Name: id, Keyed: true})
		}
		all[i].LastUsed, all[i].Runs = u.last, u.count(now)
	}
	if old := m.snap.Editors; old != nil && slices.Equal(old.All, all) || old == nil && len(all) == 0 {
		return
	}
	m.snap.Editors = &EditorList{All: all}
}

// forEditor does something to an editor and tells what came of it.
func (m *machine) forEditor(failed string, do func(ctx context.Context, e Editors) (EditorDone, error)) {
	if m.quitting {
		return
	}
	if m.app.cfg.Editors == nil {
		m.notify(failed + ": this cursortray cannot set editors up")
		return
	}
	put := m.app.cfg.Copy
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		ctx, cancel := context.WithTimeout(ctx, editorsTime)
		defer cancel()
		done, err := do(ctx, m.app.cfg.Editors)
		text := done.Notice
		if err != nil {
			text = failed + ": " + messageOf(err)
		}
		if done.Copy != "" && put != nil && put(ctx, done.Copy) == nil {
			text += "; what to enter is on the clipboard"
		} else if done.Copy != "" {
			text += "; a terminal shows what to enter: cursortray setup"
		}
		return func(m *machine) {
			m.notify(text)
			m.lookForEditors(0)
		}
	})
}

// messageOf is what an error says to the user.
func messageOf(err error) string {
	if e := chat.AsError(err); e.Kind != chat.Internal || e.Err == nil {
		return e.Message
	}
	return err.Error()
}

func (m *machine) setUpEditor(id string) {
	m.forEditor("Not set up", func(ctx context.Context, e Editors) (EditorDone, error) { return e.SetUp(ctx, id) })
}

func (m *machine) undoEditor(id string) {
	m.forEditor("Not undone", func(ctx context.Context, e Editors) (EditorDone, error) { return e.Undo(ctx, id) })
}

func (m *machine) switchEditor(id string, off bool) {
	m.forEditor("Not switched", func(ctx context.Context, e Editors) (EditorDone, error) { return e.Switch(ctx, id, off) })
}

// LocalURL is where a client on this machine finds the API of a proxy at addr;
// "" if the port of addr is not fixed.
func LocalURL(addr string) string { return baseURL(addr) }
