package autostart

import (
	"testing"

	"golang.org/x/sys/windows/registry"
)

// TestRunKey works in keys of its own, with the same code.
func TestRunKey(t *testing.T) {
	const folder = `Software\cursortray-test`
	at := run{folder + `\Run`, folder + `\Approved`}
	t.Cleanup(func() {
		for _, path := range []string{at.key, at.approved, folder} {
			_ = registry.DeleteKey(registry.CURRENT_USER, path)
		}
	})
	i := &Item{program: `C:\Program Files\cursortray\cursortrayw.exe`, at: at}
	wantState(t, i, false, "")
	for range 2 {
		if err := i.Set(true); err != nil {
			t.Fatal(err)
		}
		wantState(t, i, true, i.program)
	}
	// As the Task Manager switches it off.
	key, _, err := registry.CreateKey(registry.CURRENT_USER, at.approved, registry.SET_VALUE)
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	if err := key.SetBinaryValue(runName, []byte{3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}); err != nil {
		t.Fatal(err)
	}
	wantState(t, i, false, i.program)
	moved := &Item{program: `D:\cursortrayw.exe`, at: at}
	if changed, err := moved.Renew(); !changed || err != nil {
		t.Errorf("%v, %v", changed, err)
	}
	wantState(t, moved, false, moved.program)
	if err := moved.Set(true); err != nil {
		t.Fatal(err)
	}
	wantState(t, moved, true, moved.program)
	if err := moved.Set(false); err != nil {
		t.Fatal(err)
	}
	wantState(t, moved, false, "")
}
