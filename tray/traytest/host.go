package traytest

import (
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	itemName    = "org.kde.StatusNotifierItem"
)

// Host is a tray host that icons register with but that draws nothing.
type Host struct {
	conn  *dbus.Conn
	items chan *Item
}

// StartHost makes icons on the bus find a host.
func (b *Bus) StartHost(t testing.TB) *Host {
	t.Helper()
	h := &Host{conn: b.Connect(t), items: make(chan *Item, 16)}
	if err := h.conn.Export(watcher{h}, watcherPath, watcherName); err != nil {
		t.Fatal(err)
	}
	reply, err := h.conn.RequestName(watcherName, dbus.NameFlagDoNotQueue)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("the name of the tray host: %v, %v", reply, err)
	}
	return h
}

// Stop takes the host away.
func (h *Host) Stop() { h.conn.Close() }

// Item waits for the next icon that registers.
func (h *Host) Item(t testing.TB) *Item {
	t.Helper()
	var item *Item
	Until(t, "an icon registers", func() bool {
		select {
		case item = <-h.items:
			return true
		default:
			return false
		}
	})
	return item
}

// Extra reports an icon beyond those that Item has returned.
func (h *Host) Extra() bool { return len(h.items) > 0 }

// watcher is the part of the host that the bus sees.
type watcher struct{ host *Host }

// RegisterStatusNotifierItem takes a bus name, or a path on the caller.
func (w watcher) RegisterStatusNotifierItem(service string, sender dbus.Sender) *dbus.Error {
	item := &Item{conn: w.host.conn, name: service, path: "/StatusNotifierItem"}
	if strings.HasPrefix(service, "/") {
		item.name, item.path = string(sender), dbus.ObjectPath(service)
	}
	w.host.items <- item
	return nil
}

// FindItem waits for an icon that registered with a real host on the bus.
func (b *Bus) FindItem(t testing.TB) *Item {
	t.Helper()
	item := &Item{conn: b.Connect(t)}
	Until(t, "an icon registers with the host", func() bool {
		v, err := item.conn.Object(watcherName, watcherPath).GetProperty(watcherName + ".RegisteredStatusNotifierItems")
		if err != nil {
			return false
		}
		services, _ := v.Value().([]string)
		for _, service := range services {
			name, path, _ := strings.Cut(strings.ReplaceAll(service, "@", ""), "/")
			item.name, item.path = name, dbus.ObjectPath("/"+path)
			if id, err := item.property("Id"); err == nil && id.Value() == "cursortray" {
				return true
			}
		}
		return false
	})
	return item
}
