//go:build e2e

package tray

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"cursortray/app"
	"cursortray/tray/traytest"
)

// churns is how many menu updates a tray must bear.
const churns = 10_000

// childChurn draws that many updates with the real library, as fast as it can,
// and prints what memory it held before and after. What the first ones allocate
// for good is not counted.
func childChurn(logger *slog.Logger) error {
	d, menu := newDriver(logger), Menu(base())
	ready := make(chan struct{})
	var failed error
	go func() {
		defer d.quit()
		<-ready
		shown := menu
		draw := func(i int) {
			next := Menu(proxyIn(app.Running, i%7))
			d.apply(diff(shown, next))
			shown = next
		}
		for i := range churns / 10 {
			draw(i)
		}
		before, routines := heap(), runtime.NumGoroutine()
		for i := range churns {
			draw(i)
		}
		fmt.Printf("%d %d\n", before, heap())
		if now := runtime.NumGoroutine(); now != routines {
			failed = fmt.Errorf("%d goroutines, before it were %d", now, routines)
		}
	}()
	err := d.loop(func() {
		d.build(menu, func(string) {}, func() {})
		close(ready)
	}, func() {})
	return errors.Join(err, failed)
}

// heap is what is in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestTD2_TenThousandUpdatesLeaveMemoryWhereItWas(t *testing.T) {
	bus := traytest.StartBus(t)
	bus.StartHost(t)
	c := startChild(t, "churn", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	before, after, _ := strings.Cut(c.url(t), " ") // the line that it prints
	c.exits(t)
	a, errA := strconv.Atoi(before)
	b, errB := strconv.Atoi(after)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes before, %d after %d updates", a, b, churns)
	if b > a+a/4 {
		t.Errorf("the heap grew from %d to %d bytes in %d updates", a, b, churns)
	}
}
