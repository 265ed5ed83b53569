package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// doctorTime bounds the whole examination; each check has limits of its own.
const doctorTime = 90 * time.Second

// verdict is how a check went.
type verdict string

const (
	good  verdict = "ok"
	doubt verdict = "warn" // works, or may work
	bad   verdict = "fail" // does not work until it is mended
)

// finding is what one check found. The JSON names are part of the command
// line's promise.
type finding struct {
	Name   string  `json:"name"`             // as in meaning
	State  verdict `json:"state"`            // ok, warn or fail
	Detail string  `json:"detail"`           // what was found and what it means
	Remedy string  `json:"remedy,omitempty"` // how to mend it
}

// MarshalJSON adds what the check is about.
func (f finding) MarshalJSON() ([]byte, error) {
	type plain finding
	return json.Marshal(struct {
		plain
		Meaning string `json:"meaning,omitempty"`
	}{plain(f), meaning(f.Name)})
}

// report is what doctor --json prints.
type report struct {
	OK       bool      `json:"ok"` // nothing has failed
	Version  string    `json:"version"`
	Findings []finding `json:"findings"`
}

type doctorCmd struct {
	jsonFlag
}

func (doctorCmd) Help() string {
	return `Exits with 1 when a check has failed. With --json:

    {"ok": bool, "version": text, "findings": [{
       "name": "settings", "instance", "port", "key", "desktop",
               "keychain", "account", "clock", "agent-host",
               "cursor-agent", "login" (of cursor-agent), "network",
               "certificates", "editors" (perhaps several), "autostart" or "log",
       "state": "ok", "warn" or "fail", "detail": text, "remedy": text,
       "meaning": what the check is about}]}

A remedy that is not needed is absent.`
}

func (c *doctorCmd) Run(p *process) error {
	s, err := p.load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), doctorTime)
	defer cancel()
	r := p.examine(ctx, s)
	if c.JSON {
		err = p.printJSON(r)
	} else {
		err = p.printReport(r)
	}
	if err == nil && !r.OK {
		return errTold
	}
	return err
}

// examine makes the checks side by side: several of them wait.
func (p *process) examine(ctx context.Context, s *setup) report {
	checks := []func(context.Context, *setup) []finding{
		p.checkSettings, p.checkInstance, p.checkKey, p.checkDesktop, p.checkAccount, p.checkCursor, p.checkNetwork,
		p.checkCertificates, p.checkEditors, p.checkAutostart, p.checkLog,
	}
	found := make([][]finding, len(checks))
	var running sync.WaitGroup
	for i, check := range checks {
		running.Go(func() { found[i] = check(ctx, s) })
	}
	running.Wait()
	settleBackends(found, s.settings.Backend)
	r := report{OK: true, Version: buildVersion()}
	for _, list := range found {
		for _, f := range list {
			r.OK = r.OK && f.State != bad
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

// settleBackends takes into account that one way to Cursor is enough, unless
// the setting is for one of them.
func settleBackends(found [][]finding, setting string) {
	loggedIn := false
	for _, list := range found {
		for i := range list {
			if f := &list[i]; f.Name == "account" {
				loggedIn = f.State == good
				if setting == "agent" && f.State == doubt {
					f.State = bad
				}
			}
		}
	}
	for _, list := range found {
		for i := range list {
			f := &list[i]
			if setting == "auto" && loggedIn && f.State == bad && (f.Name == "cursor-agent" || f.Name == "login") {
				f.State, f.Detail = good, "not needed while you are logged in to Cursor here; "+f.Detail
			}
		}
	}
}

func (p *process) printReport(r report) error {
	var failed []string
	for _, f := range r.Findings {
		fmt.Fprintf(p.stdout, "%-4s  %-12s  %s\n", f.State, f.Name, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(p.stdout, "%-4s  %-12s  -> %s\n", "", "", f.Remedy)
		}
		if f.State != good {
			fmt.Fprintf(p.stdout, "%-4s  %-12s  (%s)\n", "", "", meaning(f.Name))
		}
		if f.State == bad {
			failed = append(failed, f.Name)
		}
	}
	if len(failed) > 0 {
		_, err := fmt.Fprintf(p.stdout, "\nTo be mended: %s.\n", strings.Join(failed, ", "))
		return err
	}
	_, err := fmt.Fprintln(p.stdout, "\nNothing stands in the way.")
	return err
}
