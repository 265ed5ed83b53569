package tray

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"cursortray/assets"
)

// openDesktop waits for the taskbar: a program that starts early in a login
// may come before it, and the library gives up on an icon that is refused.
func openDesktop(ctx context.Context, logger *slog.Logger) (*desktop, error) {
	name, err := windows.UTF16PtrFromString("Shell_TrayWnd")
	if err != nil {
		return nil, err
	}
	find := windows.NewLazySystemDLL("user32.dll").NewProc("FindWindowW")
	if window, _, _ := find.Call(uintptr(unsafe.Pointer(name)), 0); window == 0 {
		return nil, errors.New("there is no taskbar")
	}
	panels := make(chan assets.Panel, 1)
	watch, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() {
		if err := watchPanel(watch, panels); err != nil {
			logger.Debug("the colour of the taskbar is not known", "error", err)
		}
	})
	return &desktop{panels: panels, close: func() { stop(); tasks.Wait() }}, nil
}

// watchPanel tells the colour of the taskbar, now and whenever the user
// changes it in the settings.
func watchPanel(ctx context.Context, panels chan<- assets.Panel) error {
	key, err := registry.OpenKey(registry.CURRENT_USER,
		`Software\Microsoft\Windows\CurrentVersion\Themes\Personalize`, registry.QUERY_VALUE|registry.NOTIFY)
	if err != nil {
		return err
	}
	defer key.Close()
	changed, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(changed)
	ended, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(ended)
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { windows.SetEvent(ended); close(told) })
	defer func() {
		if !stop() {
			<-told // the handle is still in use
		}
	}()
	for {
		// Ask to be told before reading, so that no change falls between.
		if err := windows.RegNotifyChangeKeyValue(windows.Handle(key), false, windows.REG_NOTIFY_CHANGE_LAST_SET, changed, true); err != nil {
			return err
		}
		select {
		case panels <- readPanel(key):
		case <-ctx.Done():
			return nil
		}
		which, err := windows.WaitForMultipleObjects([]windows.Handle{changed, ended}, false, windows.INFINITE)
		if err != nil || which != windows.WAIT_OBJECT_0 {
			return err
		}
	}
}

func readPanel(key registry.Key) assets.Panel {
	light, _, err := key.GetIntegerValue("SystemUsesLightTheme")
	switch {
	case err != nil:
		return assets.AnyPanel
	case light != 0:
		return assets.LightPanel
	default:
		return assets.DarkPanel
	}
}
