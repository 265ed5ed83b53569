package tray

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cursortray/app"
	"cursortray/assets"
)

// fakeDriver shows rows in memory.
type fakeDriver struct {
	end chan struct{} // closed by quit

	mu     sync.Mutex
	builds int
	rows   map[string]Item
	order  []string
	looks  []look
	bursts []time.Time // of apply
	most   int         // rows in one apply
	opened func()
	click  func(string)
	broken error // what loop fails with
	quits  int
}

func newFakeDriver() *fakeDriver {
	return &fakeDriver{end: make(chan struct{}), rows: make(map[string]Item)}
}

func (d *fakeDriver) loop(ready, gone func()) error {
	if d.broken != nil {
		return d.broken
	}
	var onReady sync.WaitGroup
	onReady.Go(ready)
	<-d.end
	onReady.Wait()
	gone()
	gone() // as Windows does
	return nil
}

func (d *fakeDriver) build(items []Item, click func(string), opened func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.builds++
	d.click, d.opened = click, opened
	each(items, func(item Item) {
		d.rows[item.Key] = item
		d.order = append(d.order, item.Key)
	})
}

func (d *fakeDriver) apply(changes []change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bursts = append(d.bursts, time.Now())
	d.most = max(d.most, len(changes))
	for _, c := range changes {
		row := d.rows[c.item.Key]
		if c.title {
			row.Title = c.item.Title
		}
		if c.enabled {
			row.Enabled = c.item.Enabled
		}
		if c.checked {
			row.Checked = c.item.Checked
		}
		if c.hidden {
			row.Hidden = c.item.Hidden
		}
		d.rows[c.item.Key] = row
	}
}

func (d *fakeDriver) setLook(l look) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks = append(d.looks, l)
}

func (d *fakeDriver) quit() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.quits++; d.quits == 1 {
		close(d.end)
	}
}

func (d *fakeDriver) visible() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	titles := make(map[string]string)
	for key, row := range d.rows {
		if !row.Hidden && !row.Separator {
			titles[key] = row.Title
		}
	}
	return titles
}

// fakeController hands out snapshots and notes actions. Latest wins.
type fakeController struct {
	ch chan app.Snapshot

	mu      sync.Mutex
	actions []app.Action
	closed  bool
	onQuit  bool // Quit ends it
}

func newFakeController() *fakeController { return &fakeController{ch: make(chan app.Snapshot, 1)} }

func (c *fakeController) set(s app.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ch:
	default:
	}
	c.ch <- s
}

func (c *fakeController) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.ch)
	}
}

func (c *fakeController) Watch(context.Context) <-chan app.Snapshot { return c.ch }

func (c *fakeController) Do(a app.Action) {
	c.mu.Lock()
	c.actions = append(c.actions, a)
	quit := c.onQuit && a == app.Quit{}
	c.mu.Unlock()
	if quit {
		c.over()
	}
}

func (c *fakeController) done() []app.Action {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.actions)
}

// stage runs a renderer on fakes inside a bubble of fake time.
type stage struct {
	ctl    *fakeController
	driver *fakeDriver
	lost   chan struct{}
	panels chan assets.Panel
	result chan error
}

func start(t *testing.T, first app.Snapshot) *stage {
	t.Helper()
	s := &stage{newFakeController(), newFakeDriver(), make(chan struct{}), make(chan assets.Panel, 1), make(chan error, 1)}
	r := newRenderer(s.ctl, s.driver, first, slog.New(slog.DiscardHandler))
	go func() { s.result <- r.show(s.ctl.ch, &desktop{lost: s.lost, panels: s.panels}) }()
	synctest.Wait()
	return s
}

func (s *stage) finish(t *testing.T) {
	t.Helper()
	s.ctl.over()
	if err := <-s.result; err != nil {
		t.Errorf("show: %v", err)
	}
}

func titles(s app.Snapshot) map[string]string {
	all := make(map[string]string)
	each(Menu(s), func(item Item) {
		if !item.Hidden && !item.Separator {
			all[item.Key] = item.Title
		}
	})
	return all
}

func TestRendererChangesRowsInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		for name, snapshot := range goldenStates() {
			s.ctl.set(snapshot)
			time.Sleep((2 + 2*modelSlots/burst) * pause)
			synctest.Wait()
			if d := cmp.Diff(titles(snapshot), s.driver.visible()); d != "" {
				t.Errorf("%s is not what is shown (-want +shown):\n%s", name, d)
			}
		}
		if s.driver.builds != 1 {
			t.Errorf("the menu was built %d times", s.driver.builds)
		}
		s.finish(t)
	})
}

func TestTD2_ManyUpdatesLeaveSameRowsAndLastState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		order := slices.Clone(s.driver.order)
		began := time.Now()
		var writers sync.WaitGroup
		for i := range 8 {
			writers.Go(func() {
				for n := range 125 {
					s.ctl.set(proxyIn(app.Running, 1000*i+n))
					time.Sleep(time.Millisecond)
				}
			})
		}
		writers.Wait()
		last := proxyIn(app.Stopped, 0)
		s.ctl.set(last)
		time.Sleep(2 * pause)
		synctest.Wait()
		if d := cmp.Diff(titles(last), s.driver.visible()); d != "" {
			t.Errorf("the last state is not shown:\n%s", d)
		}
		if s.driver.builds != 1 || !slices.Equal(order, s.driver.order) || len(s.driver.rows) != len(order) {
			t.Error("rows were made anew")
		}
		if limit := int(time.Since(began)/pause) + 2; len(s.driver.bursts) > limit {
			t.Errorf("%d redrawings in %v", len(s.driver.bursts), time.Since(began))
		}
		for a, b := range pairs(s.driver.bursts) {
			if b.Sub(a) < pause {
				t.Errorf("two redrawings within %v", b.Sub(a))
			}
		}
		s.finish(t)
	})
}

func pairs(times []time.Time) func(func(a, b time.Time) bool) {
	return func(yield func(a, b time.Time) bool) {
		for i := 1; i < len(times); i++ {
			if !yield(times[i-1], times[i]) {
				return
			}
		}
	}
}

// A long list of models comes in bursts, and what is more urgent than the rest
// of it comes first.
func TestManyModelsDoNotStallTheMenu(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		s.ctl.set(goldenStates()["models-300"])
		time.Sleep(pause + time.Millisecond)
		stopped := with(func(c *app.Snapshot) {
			*c = goldenStates()["models-300"]
			c.Proxy.State = app.Stopped
		})
		s.ctl.set(stopped)
		time.Sleep(pause)
		synctest.Wait()
		if got := s.driver.visible()["status"]; got != titles(stopped)["status"] {
			t.Errorf("the status is %q while the list is being filled", got)
		}
		time.Sleep((modelSlots/burst + 1) * pause)
		synctest.Wait()
		if d := cmp.Diff(titles(stopped), s.driver.visible()); d != "" {
			t.Errorf("in the end it is not what is shown:\n%s", d)
		}
		if s.driver.most > burst {
			t.Errorf("%d rows were changed at once", s.driver.most)
		}
		s.driver.click("model.2")
		s.driver.opened()
		if d := cmp.Diff([]app.Action{app.CopyModel{ID: "model-0-v0"}, app.MenuOpened{}}, s.ctl.done()); d != "" {
			t.Errorf("actions:\n%s", d)
		}
		s.finish(t)
	})
}

func TestRendererDrawsNothingWhenNothingChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		looks := len(s.driver.looks)
		for range 5 {
			s.ctl.set(base())
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if len(s.driver.bursts) != 0 || len(s.driver.looks) != looks {
			t.Errorf("%d redrawings, %d new icons", len(s.driver.bursts), len(s.driver.looks)-looks)
		}
		s.finish(t)
	})
}

func TestClickDoesWhatTheRowSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		for _, key := range []string{"proxy", "copy.url", "copy.key", "quit", "status", "recheck", "fix.port", "line.proxy", "none"} {
			s.driver.click(key)
		}
		s.ctl.set(proxyIn(app.Stopped, 0))
		time.Sleep(2 * pause)
		s.driver.click("proxy")
		want := []app.Action{app.StopProxy{}, app.CopyBaseURL{}, app.CopyKey{}, app.Quit{}, app.StartProxy{}}
		if d := cmp.Diff(want, s.ctl.done()); d != "" {
			t.Errorf("actions:\n%s", d)
		}
		s.finish(t)
	})
}

func TestIconFollowsStateAndPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		s.panels <- assets.DarkPanel
		time.Sleep(2 * pause)
		s.ctl.set(proxyIn(app.Running, 1))
		time.Sleep(2 * pause)
		s.ctl.set(goldenStates()["quota-reached"])
		time.Sleep(2 * pause)
		synctest.Wait()
		var got []string
		for _, l := range s.driver.looks {
			got = append(got, l.state.String()+" "+l.panel.String())
		}
		want := []string{"running any", "running any", "running dark", "busy dark", "problem dark"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("icons:\n%s", d)
		}
		s.finish(t)
	})
}

func TestLostDesktopAsksToQuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		close(s.lost)
		synctest.Wait()
		if got := s.ctl.done(); !slices.Equal(got, []app.Action{app.Quit{}}) {
			t.Errorf("actions %v", got)
		}
		s.finish(t)
	})
}

// A system that ends the session takes the tray away by itself.
func TestSessionEndGivesTheAppTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl := newFakeController()
		ctl.onQuit = true
		r := newRenderer(ctl, newFakeDriver(), base(), slog.New(slog.DiscardHandler))
		followed := make(chan error, 1)
		go func() { followed <- r.show(ctl.ch, &desktop{}) }()
		synctest.Wait()
		began := time.Now()
		r.gone()
		if d := time.Since(began); d > time.Second {
			t.Errorf("the App was waited for %v", d)
		}
		if got := ctl.done(); !slices.Equal(got, []app.Action{app.Quit{}}) {
			t.Errorf("actions %v", got)
		}
		<-followed
	})
}

func TestSessionEndDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, base())
		r := newRenderer(s.ctl, s.driver, base(), slog.New(slog.DiscardHandler))
		began := time.Now()
		r.gone()
		if d := time.Since(began); d != sessionEnd {
			t.Errorf("waited %v", d)
		}
		s.finish(t)
	})
}

func TestDiffTouchesOnlyWhatDiffers(t *testing.T) {
	changed := make(map[string]change)
	for _, c := range diff(Menu(base()), Menu(proxyIn(app.Stopped, 0))) {
		changed[c.item.Key] = c
	}
	if got := slices.Sorted(maps.Keys(changed)); !slices.Equal(got, []string{"dashboard", "default.more", "editors.more", "proxy", "status"}) {
		t.Errorf("changed rows: %v", got)
	}
	if c := changed["proxy"]; !c.title || c.enabled || c.checked || c.hidden {
		t.Errorf("the proxy row changes in %+v", c)
	}
}

// On Windows any update of a hidden row shows it.
func TestDiffLeavesHiddenRowsAlone(t *testing.T) {
	a := []Item{{Key: "x", Title: "one", Hidden: true, Checkable: true}}
	b := []Item{{Key: "x", Title: "two", Hidden: true, Checkable: true, Checked: true, Enabled: true}}
	shown := []Item{{Key: "x", Title: "two", Checkable: true, Checked: true, Enabled: true}}
	if got := diff(a, b); len(got) != 0 {
		t.Errorf("changes to a hidden row: %+v", got)
	}
	if got := diff(b, shown); len(got) != 1 || !got[0].title || !got[0].enabled || !got[0].checked || !got[0].hidden {
		t.Errorf("a row that appears gets %+v", got)
	}
	if got := diff(shown, a); len(got) != 1 || got[0].title || got[0].enabled || got[0].checked || !got[0].hidden {
		t.Errorf("a row that goes gets %+v", got)
	}
}

func TestBrokenTrayIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctl, d := newFakeController(), newFakeDriver()
		d.broken = errors.New("broken")
		r := newRenderer(ctl, d, base(), slog.New(slog.DiscardHandler))
		result := make(chan error, 1)
		go func() { result <- r.show(ctl.ch, &desktop{}) }()
		synctest.Wait()
		ctl.over()
		if err := <-result; !errors.Is(err, d.broken) {
			t.Errorf("show: %v", err)
		}
	})
}
