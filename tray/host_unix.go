//go:build !windows && !darwin

package tray

import (
	"context"
	"log/slog"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	// hostPatience is how long a desktop that is starting may take to bring
	// up its tray.
	hostPatience = 10 * time.Second
)

// watchHost says once when nothing on the desktop shows tray icons, and once
// more when something does after all. The library registers the icon with each
// host that comes, so there is nothing else to do.
func watchHost(ctx context.Context, conn *dbus.Conn, hosts chan<- string, logger *slog.Logger) {
	defer close(hosts)
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	defer conn.RemoveSignal(signals)
	match := []dbus.MatchOption{
		dbus.WithMatchSender("org.freedesktop.DBus"),
		dbus.WithMatchInterface("org.freedesktop.DBus"),
		dbus.WithMatchMember("NameOwnerChanged"),
		dbus.WithMatchArg(0, watcherName),
	}
	if err := conn.AddMatchSignalContext(ctx, match...); err != nil {
		return
	}
	var here bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcherName).Store(&here); err != nil {
		return
	}
	patience := time.NewTimer(hostPatience)
	defer patience.Stop()
	said := false
	for {
		select {
		case sig, open := <-signals:
			if !open {
				return
			}
			owner, ok := newOwner(sig, watcherName)
			if !ok {
				continue
			}
			if here = owner != ""; here && said {
				logger.Info("the desktop shows tray icons now")
				tell(ctx, hosts, "")
			}
		case <-patience.C:
			if !here && !said {
				said = true
				logger.Warn(noHost + "; the proxy runs without one, `cursortray status` shows it, `cursortray quit` ends it")
				tell(ctx, hosts, noHost)
			}
		case <-ctx.Done():
			return
		}
	}
}

// noHost is what is wrong when nothing shows icons.
const noHost = "nothing on this desktop shows tray icons (GNOME needs the AppIndicator extension)"

func tell(ctx context.Context, hosts chan<- string, reason string) {
	select {
	case hosts <- reason:
	case <-ctx.Done():
	}
}

// newOwner reads who owns name after a NameOwnerChanged signal.
func newOwner(sig *dbus.Signal, name string) (owner string, ok bool) {
	if sig.Name != "org.freedesktop.DBus.NameOwnerChanged" || len(sig.Body) != 3 || sig.Body[0] != name {
		return "", false
	}
	owner, ok = sig.Body[2].(string)
	return owner, ok
}
