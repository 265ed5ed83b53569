package main

import (
	"errors"

	"cursortray/app/control"
)

type serveCmd struct {
	runFlags
}

func (serveCmd) Help() string {
	return `Prints "listening on http://HOST:PORT" on standard output once it accepts requests; logs go to standard error.
SIGINT or SIGTERM stops accepting and lets running answers end for up to 5 seconds; a second one cuts them.`
}

func (c *serveCmd) Run(p *process) error {
	s, err := p.load()
	if err != nil {
		return err
	}
	if err := c.apply(&s.settings); err != nil {
		return err
	}
	holder, holdErr := control.Hold(s.dirs.Runtime)
	if holder != nil {
		defer p.logToFile(s, false)()
	}
	i, err := p.newInstance(s, c.Demo, true)
	if err != nil {
		return err
	}
	i.holder = holder
	switch {
	case errors.Is(holdErr, control.ErrHeld):
		i.logger.Info("another cursortray is running; every other command goes on talking to that one")
	case holdErr != nil:
		i.logger.Warn("other cursortray commands cannot talk to this one", "error", holdErr)
	}
	return p.runInstance(i, nil)
}
