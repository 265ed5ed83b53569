//go:build !windows && !darwin

package notify

import (
	"context"
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"sync"

	"github.com/godbus/dbus/v5"

	"cursortray/app"
	"cursortray/app/sessionbus"
)

const (
	service   = "org.freedesktop.Notifications"
	object    = "/org/freedesktop/Notifications"
	notifyFor = "cursortray" // also the name of the icon and of the desktop entry
)

// bus shows notes over the session bus, by a connection that is made for the
// first note: most days there is none.
type bus struct {
	clicked chan app.Action
	conn    *dbus.Conn // nil: none, or lost
	tasks   sync.WaitGroup

	mu    sync.Mutex
	shown map[Kind]shown
}

// shown is a note on the screen, or that was there.
type shown struct {
	id   uint32
	note Note
}

func newDesktop() desktop {
	return &bus{clicked: make(chan app.Action), shown: map[Kind]shown{}}
}

func (b *bus) clicks() <-chan app.Action { return b.clicked }

func (b *bus) close() {
	if b.conn != nil {
		b.conn.Close()
	}
	b.tasks.Wait()
}

func (b *bus) show(ctx context.Context, n Note) error {
	ctx, cancel := context.WithTimeout(ctx, sessionbus.Timeout)
	defer cancel()
	if err := b.connect(ctx); err != nil {
		return err
	}
	daemon := b.conn.Object(service, object)
	var able []string
	if err := daemon.CallWithContext(ctx, service+".GetCapabilities", 0).Store(&able); err != nil {
		return fmt.Errorf("nothing shows notifications: %w", err)
	}
	body := n.Body
	if slices.Contains(able, "body-markup") {
		body = html.EscapeString(body)
	}
	actions := []string{}
	if slices.Contains(able, "actions") && n.Click != nil {
		actions = append(actions, "default", n.Label)
		for i, button := range n.Buttons {
			actions = append(actions, strconv.Itoa(i), button.Label)
		}
	}
	hints := map[string]dbus.Variant{"desktop-entry": dbus.MakeVariant(notifyFor)}
	// A click may come before the reply has been looked at.
	b.mu.Lock()
	defer b.mu.Unlock()
	var id uint32
	err := daemon.CallWithContext(ctx, service+".Notify", 0,
		notifyFor, b.shown[n.Kind].id, notifyFor, n.Title, body, actions, hints, int32(-1)).Store(&id)
	if err != nil {
		return fmt.Errorf("the notification was refused: %w", err)
	}
	b.shown[n.Kind] = shown{id, n}
	return nil
}

func (b *bus) connect(ctx context.Context) error {
	if b.conn != nil && b.conn.Connected() {
		return nil
	}
	addr, err := sessionbus.Address()
	if err != nil {
		return err
	}
	conn, err := sessionbus.Connect(ctx, addr)
	if err != nil {
		return err
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	err = errors.Join(
		conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(service), dbus.WithMatchInterface(service), dbus.WithMatchMember("ActionInvoked")),
		conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(service), dbus.WithMatchInterface(service), dbus.WithMatchMember("NotificationClosed")),
	)
	if err != nil {
		conn.Close()
		return err
	}
	if b.conn != nil {
		b.conn.Close()
	}
	b.conn = conn
	b.mu.Lock()
	clear(b.shown) // they were another bus's
	b.mu.Unlock()
	b.tasks.Go(func() { b.listen(conn, signals) })
	return nil
}

// listen takes clicks until the connection ends.
func (b *bus) listen(conn *dbus.Conn, signals <-chan *dbus.Signal) {
	for {
		select {
		case sig, open := <-signals:
			if !open {
				return
			}
			action := b.take(sig)
			if action == nil {
				continue
			}
			select {
			case b.clicked <- action:
			case <-conn.Context().Done():
				return
			}
		case <-conn.Context().Done():
			return
		}
	}
}

// take returns what a signal asks for. Other programs have notes, too.
func (b *bus) take(sig *dbus.Signal) app.Action {
	if len(sig.Body) != 2 {
		return nil
	}
	id, ok := sig.Body[0].(uint32)
	if !ok {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for kind, s := range b.shown {
		if s.id != id {
			continue
		}
		switch key, _ := sig.Body[1].(string); {
		case sig.Name == service+".NotificationClosed":
			delete(b.shown, kind)
		case sig.Name == service+".ActionInvoked" && key == "default":
			return s.note.Click
		case sig.Name == service+".ActionInvoked":
			if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(s.note.Buttons) {
				return s.note.Buttons[i].Action
			}
		}
	}
	return nil
}
