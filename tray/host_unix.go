//go:build !windows && !darwin

package tray

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	watcherName  = "org.kde.StatusNotifierWatcher"
	watcherPath  = "/StatusNotifierWatcher"
	itemRegister = watcherName + ".RegisterStatusNotifierItem"
	busName      = "org.freedesktop.DBus"
	// hostPatience is how long a desktop that is starting may take to bring
	// up its tray.
	hostPatience = 10 * time.Second
	// After a change of the host the icon is looked for at once, then after ever
	// longer pauses, and no more after that: a host that is slower than that, or
	// that does not list its icons, is left to the library.
	firstLook  = 250 * time.Millisecond
	longestGap = 8 * time.Second
	hostCall   = 2 * time.Second
)

// host is the tray host of the bus, as seen over a connection of our own.
type host struct {
	conn *dbus.Conn
	log  *slog.Logger
	// missing is told why nothing shows the icon, and "" when something does.
	missing chan<- string

	owner string // of the watcher's name; "" is nobody
	shown bool   // it draws icons, as far as it tells
	said  bool
}

const noHost = "nothing on this desktop shows tray icons (GNOME needs the AppIndicator extension)"

// watchHost says once when nothing on the desktop shows tray icons, and once
// more when something does after all, and sees to it that the icon is there.
//
// The library registers the icon when a host takes its name and never again.
// That is too early for hosts that take the name before they answer to it, as
// the panel of Xfce does after a restart: seen in one of about ten.
func watchHost(ctx context.Context, conn *dbus.Conn, missing chan<- string, logger *slog.Logger) {
	defer close(missing)
	h := &host{conn: conn, log: logger, missing: missing}
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	defer conn.RemoveSignal(signals)
	if err := h.subscribe(ctx); err != nil {
		logger.Debug("the tray host cannot be watched", "error", err)
		return
	}
	h.look(ctx)
	patience := time.NewTimer(hostPatience)
	defer patience.Stop()
	gap := firstLook
	again := time.NewTimer(gap)
	defer again.Stop()
	for {
		select {
		case sig, open := <-signals:
			if !open {
				return
			}
			if !h.changed(sig) {
				continue
			}
			h.look(ctx)
			gap = firstLook
			again.Reset(gap)
		case <-again.C:
			if h.look(ctx); !h.ensure(ctx) && gap < longestGap {
				gap *= 2
				again.Reset(gap)
			}
		case <-patience.C:
			if !h.shown {
				h.said = true
				h.log.Warn(noHost + "; the proxy runs without one, `cursortray status` shows it, `cursortray quit` ends it")
				h.tell(ctx, noHost)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (h *host) tell(ctx context.Context, reason string) {
	select {
	case h.missing <- reason:
	case <-ctx.Done():
	}
}

func (h *host) subscribe(ctx context.Context) error {
	owner := []dbus.MatchOption{
		dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcherName),
	}
	if err := h.conn.AddMatchSignalContext(ctx, owner...); err != nil {
		return err
	}
	return h.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(watcherName), dbus.WithMatchInterface(watcherName))
}

// changed says whether a signal is about the host, and not about other icons.
func (h *host) changed(sig *dbus.Signal) bool {
	if _, ok := newOwner(sig, watcherName); ok {
		return true
	}
	return sig.Name == watcherName+".StatusNotifierHostRegistered" || sig.Name == watcherName+".StatusNotifierHostUnregistered"
}

// look finds out who shows icons. A watcher alone does not: it needs a host that
// draws, unless it does not tell.
func (h *host) look(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, hostCall)
	defer cancel()
	h.owner = h.ownerOf(call, watcherName)
	h.shown = h.owner != ""
	if drawn, err := h.property(call, "IsStatusNotifierHostRegistered"); h.shown && err == nil {
		h.shown, _ = drawn.Value().(bool)
	}
	if h.shown && h.said {
		h.said = false
		h.log.Info("the desktop shows tray icons now")
		h.tell(ctx, "")
	}
}

func (h *host) ownerOf(ctx context.Context, name string) string {
	var owner string
	if err := h.conn.BusObject().CallWithContext(ctx, busName+".GetNameOwner", 0, name).Store(&owner); err != nil {
		return ""
	}
	return owner
}

func (h *host) property(ctx context.Context, name string) (v dbus.Variant, err error) {
	call := h.conn.Object(watcherName, watcherPath).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, watcherName, name)
	return v, call.Store(&v)
}

// ensure registers the icon with a host that does not list it, and reports
// whether nothing is left to do. The icon is named as the library names it, so
// that no host takes it for a second one.
func (h *host) ensure(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, hostCall)
	defer cancel()
	item := h.ownerOf(ctx, fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", os.Getpid()))
	if h.owner == "" || item == "" {
		return h.owner == "" // a host that comes is told; an icon is not
	}
	listed, err := h.property(ctx, "RegisteredStatusNotifierItems")
	if err != nil {
		return false
	}
	names, ok := listed.Value().([]string)
	if !ok || lists(names, item) {
		return true
	}
	call := h.conn.Object(watcherName, watcherPath).CallWithContext(ctx, itemRegister, dbus.FlagNoAutoStart, item)
	h.log.Debug("the tray host did not know the icon", "error", call.Err)
	return false // looks whether it does now
}

// lists says whether an icon of that connection is among the names, which hosts
// write in several ways: ":1.23/StatusNotifierItem", ":1.23@/StatusNotifierItem",
// or the name that the library has taken.
func lists(names []string, item string) bool {
	own := fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", os.Getpid())
	for _, name := range names {
		for _, is := range []string{item, own} {
			if rest, ok := strings.CutPrefix(name, is); ok && (rest == "" || strings.ContainsAny(rest[:1], "/@")) {
				return true
			}
		}
	}
	return false
}

// newOwner reads who owns name after a NameOwnerChanged signal.
func newOwner(sig *dbus.Signal, name string) (owner string, ok bool) {
	if sig.Name != busName+".NameOwnerChanged" || len(sig.Body) != 3 || sig.Body[0] != name {
		return "", false
	}
	owner, ok = sig.Body[2].(string)
	return owner, ok
}
