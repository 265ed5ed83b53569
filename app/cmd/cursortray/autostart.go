package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"cursortray/app/autostart"
	"cursortray/app/control"
)

type autostartCmd struct {
	Do string `arg:"" optional:"" enum:"on,off,status" default:"status" help:"on, off or status, which is the default."`
	jsonFlag
}

func (autostartCmd) Help() string {
	return `Nothing is started or ended now. With --json, of the state afterwards:

    {"on": bool, "program": what the entry starts, "entry": where it lies}

program is absent when there is no entry. An entry that is off was switched off
in the settings of the desktop.`
}

// autostartReport is what autostart --json prints.
type autostartReport struct {
	On      bool   `json:"on"`
	Program string `json:"program,omitempty"` // what the entry starts
	Entry   string `json:"entry"`             // where it lies, or would
}

// Run changes the entry itself, which is the only truth, and tells the running
// instance to look.
func (c *autostartCmd) Run(p *process) error {
	_, client, err := p.client()
	if err != nil {
		return err
	}
	entry, err := p.autostart()
	if err != nil {
		return err
	}
	if c.Do != "status" {
		if err := entry.Set(c.Do == "on"); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		if err := client.Look(ctx); err != nil && !errors.Is(err, control.ErrNotRunning) {
			return err
		}
	}
	state, err := entry.State()
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(autostartReport{state.On, state.Program, state.Where})
	}
	_, err = fmt.Fprintln(p.stdout, autostartText(state))
	return err
}

func autostartText(state autostart.State) string {
	switch {
	case state.On:
		return "on: " + state.Program + " starts when you log in"
	case state.Program != "":
		return "off: " + state.Where + " is switched off"
	default:
		return "off"
	}
}

// autostart returns the entry of this program.
func (p *process) autostart() (*autostart.Item, error) {
	program, err := autostart.Program(os.Args[0], p.env)
	if err != nil {
		return nil, fmt.Errorf("where this program lies is not known: %w", err)
	}
	return autostart.New(program, p.env)
}

// renewAutostart makes an entry follow a program that was moved.
func renewAutostart(entry *autostart.Item, logger *slog.Logger) {
	switch changed, err := entry.Renew(); {
	case err != nil:
		logger.Warn("the program may not start at login any more", "error", err)
	case changed:
		logger.Info("the entry that starts the program at login follows where it lies now")
	}
}
