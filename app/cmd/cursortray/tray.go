package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cursortray/app"
	"cursortray/app/control"
	"cursortray/proxy/chat"
	"cursortray/tray"
)

// helloTime is how long a second start waits for the first one to say who it
// is.
const helloTime = 2 * time.Second

type trayCmd struct {
	runFlags
	Autostart bool `name:"autostart" help:"Started at login: show nothing but the icon."`
}

func (trayCmd) Help() string {
	return `Where the desktop has no tray, the proxy runs without an icon; cursortray status shows it, cursortray quit ends it.
A second start shows the dashboard of the first one, says that it is running, and exits with 0. The first start of all shows how to begin.`
}

func (c *trayCmd) Run(p *process) error {
	s, err := p.load()
	if err != nil {
		return err
	}
	if err := c.apply(&s.settings); err != nil {
		return err
	}
	holder, err := control.Hold(s.dirs.Runtime)
	if errors.Is(err, control.ErrHeld) {
		return p.alreadyRunning(s, c.Autostart)
	}
	if holder != nil {
		defer p.logToFile(s, c.Autostart)()
	}
	i, failed := p.newInstance(s, c.Demo, false)
	if failed != nil {
		return failed
	}
	if i.autostart != nil && !c.Demo {
		renewAutostart(i.autostart, i.logger)
	}
	if i.holder = holder; err != nil {
		i.logger.Warn("other cursortray commands cannot talk to this one", "error", err)
	}
	if !s.settings.StartProxy {
		i.app.Do(app.StopProxy{})
	} else if !c.Demo && !c.Autostart && p.hasScreen() && firstStart(s.dirs.State) {
		i.app.Do(app.OpenDashboard{Page: "start"})
	}
	return p.runInstance(i, func(ctx context.Context) {
		// A tray that breaks has been told; the proxy goes on.
		_ = tray.Run(ctx, i.app, i.logger)
	})
}

// alreadyRunning tells who is, and shows it to a user who has asked for it.
func (p *process) alreadyRunning(s *setup, autostarted bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), helloTime)
	defer cancel()
	text := "cursortray is already running"
	if status, err := control.NewClient(s.dirs.Runtime).Status(ctx); err == nil {
		text += fmt.Sprintf(" as process %d; its proxy is %s", status.PID, status.Proxy.State)
	}
	if _, err := fmt.Fprintln(p.stdout, text); err != nil || autostarted || !p.hasScreen() {
		return err
	}
	page, err := control.NewClient(s.dirs.Runtime).Dashboard(ctx, "")
	if err == nil {
		err = p.browse(page.URL)
	}
	if err != nil { // it runs, which is what was asked for
		reason := err.Error()
		var told *chat.Error
		if errors.As(err, &told) {
			reason = told.Message
		}
		fmt.Fprintf(p.stderr, "cursortray: its dashboard does not open: %s\n", reason)
	}
	return nil
}
