package traytest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
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

	mu    sync.Mutex
	names []string         // of icons, as hosts write them
	props *prop.Properties // nil while it does not answer
}

// StartHost makes icons on the bus find a host.
func (b *Bus) StartHost(t testing.TB) *Host {
	t.Helper()
	h := b.StartSlowHost(t)
	h.Answer(t, true)
	return h
}

// StartSlowHost takes the name of a host, but does not answer to it yet.
func (b *Bus) StartSlowHost(t testing.TB) *Host {
	t.Helper()
	h := &Host{conn: b.Connect(t), items: make(chan *Item, 16)}
	reply, err := h.conn.RequestName(watcherName, dbus.NameFlagDoNotQueue)
	if err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("the name of the tray host: %v, %v", reply, err)
	}
	return h
}

// Answer makes the host answer. Drawing is whether it says that somebody draws
// the icons that register.
func (h *Host) Answer(t testing.TB, drawing bool) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	props, err := prop.Export(h.conn, watcherPath, prop.Map{watcherName: {
		"RegisteredStatusNotifierItems":  {Value: []string{}, Emit: prop.EmitTrue},
		"IsStatusNotifierHostRegistered": {Value: drawing, Emit: prop.EmitTrue},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.conn.Export(watcher{h}, watcherPath, watcherName); err != nil {
		t.Fatal(err)
	}
	h.props = props
}

// Draw says that somebody draws the icons from now on.
func (h *Host) Draw(t testing.TB) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.props.SetMust(watcherName, "IsStatusNotifierHostRegistered", true)
	if err := h.conn.Emit(watcherPath, watcherName+".StatusNotifierHostRegistered"); err != nil {
		t.Fatal(err)
	}
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
	h := w.host
	h.mu.Lock()
	h.names = append(h.names, item.name+string(item.path))
	h.props.SetMust(watcherName, "RegisteredStatusNotifierItems", slices.Clone(h.names))
	h.mu.Unlock()
	h.items <- item
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
