//go:build !windows && !darwin

package notify

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"

	"cursortray/app"
	"cursortray/app/sessionbus"
	"cursortray/tray/traytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// daemon shows notifications, as a desktop does.
type daemon struct {
	conn *dbus.Conn
	able []string

	mu    sync.Mutex
	notes []posted
}

// posted is what a note looks like to the desktop.
type posted struct {
	replaces    uint32
	icon        string
	title, body string
	actions     []string
	entry       any
	sender      dbus.Sender
	id          uint32
	expires     int32
}

func (d *daemon) GetCapabilities() ([]string, *dbus.Error) { return d.able, nil }

func (d *daemon) Notify(_ string, replaces uint32, icon, title, body string, actions []string, hints map[string]dbus.Variant, expires int32, sender dbus.Sender) (uint32, *dbus.Error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := replaces
	if id == 0 {
		id = uint32(100 + len(d.notes))
	}
	d.notes = append(d.notes, posted{replaces, icon, title, body, actions, hints["desktop-entry"].Value(), sender, id, expires})
	return id, nil
}

func (d *daemon) posted() []posted {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.notes)
}

func (d *daemon) emit(t *testing.T, signal string, values ...any) {
	t.Helper()
	if err := d.conn.Emit(object, service+"."+signal, values...); err != nil {
		t.Fatal(err)
	}
}

func startDaemon(t *testing.T, bus *traytest.Bus, able ...string) *daemon {
	t.Helper()
	d := &daemon{conn: bus.Connect(t), able: able}
	if err := d.conn.Export(d, object, service); err != nil {
		t.Fatal(err)
	}
	if reply, err := d.conn.RequestName(service, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return d
}

// program is an App that a test steers.
type program struct {
	snapshots chan app.Snapshot
	done      chan app.Action
	ended     chan struct{}
	shown     chan error // what came of each note
	once      sync.Once
}

func (p *program) Watch(context.Context) <-chan app.Snapshot { return p.snapshots }
func (p *program) Do(action app.Action)                      { p.done <- action }

// witness tells the test what came of each note.
type witness struct {
	desktop
	shown chan error
}

func (w witness) show(ctx context.Context, n Note) error {
	err := w.desktop.show(ctx, n)
	w.shown <- err
	return err
}

func startProgram(t *testing.T, address string) *program {
	t.Helper()
	t.Setenv(sessionbus.Variable, address)
	p := &program{snapshots: make(chan app.Snapshot), done: make(chan app.Action, 8), ended: make(chan struct{}), shown: make(chan error, 8)}
	go func() {
		defer close(p.ended)
		run(context.Background(), p, witness{newDesktop(), p.shown}, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(p.end)
	return p
}

func (p *program) end() {
	p.once.Do(func() { close(p.snapshots) })
	<-p.ended
}

func (p *program) is(s app.Snapshot) { p.snapshots <- s }

// A click on a note, or on a button of it, does what it says; what others show
// and what is closed is nobody's.
func TestAClickLeadsToTheFix(t *testing.T) {
	bus := traytest.StartBus(t)
	d := startDaemon(t, bus, "actions", "body", "body-markup")
	p := startProgram(t, bus.Address)
	p.is(running())
	p.is(with(busy, func(s *app.Snapshot) { s.Proxy.Problem = "port 8765 is used by <nginx> & co" }))
	if err := <-p.shown; err != nil {
		t.Fatal(err)
	}
	n := d.posted()[0]
	if n.title != "The proxy is not running" || n.body != "Port 8765 is used by &lt;nginx&gt; &amp; co." || n.replaces != 0 ||
		!slices.Equal(n.actions, []string{"default", "Try again", "0", "Use port 8766"}) || n.entry != "cursortray" || n.icon != "cursortray" {
		t.Errorf("%+v", n)
	}
	d.emit(t, "ActionInvoked", n.id+7, "default") // another program's
	d.emit(t, "ActionInvoked", n.id, "9")
	d.emit(t, "ActionInvoked", n.id, "0")
	if action := <-p.done; action != (app.UseNextPort{}) {
		t.Errorf("the button asks for %#v", action)
	}
	d.emit(t, "ActionInvoked", n.id, "default")
	if action := <-p.done; action != (app.StartProxy{}) {
		t.Errorf("the click asks for %#v", action)
	}
	// The next of its kind takes its place.
	p.is(with(busy, func(s *app.Snapshot) { s.Proxy.Owner = "ollama" }))
	if err := <-p.shown; err != nil {
		t.Fatal(err)
	}
	if second := d.posted()[1]; second.replaces != n.id {
		t.Errorf("%+v", second)
	}
	d.emit(t, "NotificationClosed", n.id, uint32(2))
	d.emit(t, "ActionInvoked", n.id, "default")
	p.is(with(ended))
	if err := <-p.shown; err != nil {
		t.Fatal(err)
	}
	third := d.posted()[2]
	d.emit(t, "ActionInvoked", third.id, "default")
	if action := <-p.done; action != (app.SignIn{}) {
		t.Errorf("%#v came first; a click on a closed note must do nothing", action)
	}
	p.end()
	if third.sender == "" || len(d.posted()) != 3 {
		t.Errorf("%d notes", len(d.posted()))
	}
}

func TestADesktopThatKnowsNoActions(t *testing.T) {
	bus := traytest.StartBus(t)
	d := startDaemon(t, bus, "body")
	p := startProgram(t, bus.Address)
	p.is(with(busy, func(s *app.Snapshot) { s.Proxy.Problem = "a & b" }))
	if err := <-p.shown; err != nil {
		t.Fatal(err)
	}
	if n := d.posted()[0]; len(n.actions) != 0 || n.body != "A & b." {
		t.Errorf("%+v", n)
	}
}

// Nobody shows notifications: nothing happens, and one that comes later gets the
// next.
func TestNobodyShowsNotifications(t *testing.T) {
	bus := traytest.StartBus(t)
	p := startProgram(t, bus.Address)
	p.is(with(busy))
	if err := <-p.shown; err == nil || !strings.Contains(err.Error(), "nothing shows notifications") {
		t.Errorf("%v", err)
	}
	d := startDaemon(t, bus)
	p.is(with(ended))
	if err := <-p.shown; err != nil || len(d.posted()) != 1 {
		t.Errorf("%v, %d notes", err, len(d.posted()))
	}
	bus.Kill() // the end of the session
	p.is(with(spent))
	if err := <-p.shown; err == nil {
		t.Error("shown without a bus")
	}
	p.is(running())
}

func TestNoBus(t *testing.T) {
	p := startProgram(t, "unix:path=/nonexistent/bus")
	p.is(with(busy))
	if err := <-p.shown; err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
