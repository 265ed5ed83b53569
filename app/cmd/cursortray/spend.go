package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cursortray/app"
	"cursortray/app/config"
	"cursortray/app/control"
	"cursortray/app/editors"
	"cursortray/proxy/ledger"
	"cursortray/proxy/spend"
)

// ledgerPath is where requests are written down. Those of a demo are not real
// and lie apart.
func ledgerPath(s *setup, demo bool) string {
	if demo {
		return filepath.Join(s.dirs.Cache, "demo", "ledger.db")
	}
	return filepath.Join(s.dirs.State, "ledger.db")
}

// addSpending gives the App its ledger and its guard.
func (i *instance) addSpending(s *setup, cfg *app.Config) {
	set := s.settings.Spend
	guard := spend.Config{
		All: spend.Limits(set.All),
		Failed: func(err error) {
			i.logger.Warn("the spend limits count from now on: the ledger cannot be read", "problem", err)
		},
	}
	guard.Each, guard.Editors = editorLimits(set)
	for id := range guard.Editors {
		if id != "" && !editors.Known(id) {
			i.logger.Warn("spend_editors limits an editor that there is not; cursortray setup lists their names", "editor", id)
		}
	}
	if set.LedgerDays > 0 {
		const day = 24 * time.Hour
		i.ledger = ledger.Open(ledgerPath(s, cfg.Demo), ledger.Options{
			MaxAge: time.Duration(set.LedgerDays) * day, MaxBytes: int64(set.LedgerMegabytes) << 20, Logger: i.logger,
		})
		cfg.Ledger, guard.Past = i.ledger, app.PastOf(i.ledger)
	}
	cfg.Guard = spend.New(guard)
}

// editorLimits tells the limits of single editors by the ids of their keys.
func editorLimits(set config.Spend) (each spend.Limits, single map[string]spend.Limits) {
	single = map[string]spend.Limits{}
	for name, limits := range set.EditorLimits() {
		switch name {
		case config.EveryEditor:
			each = spend.Limits(limits)
		case config.MainKey:
			single[""] = spend.Limits(limits)
		default:
			single[name] = spend.Limits(limits)
		}
	}
	return each, single
}

type allowCmd struct {
	For time.Duration `default:"1h" placeholder:"1h" help:"For how long, at most 24h; 0s makes the limits hold again."`
}

func (allowCmd) Help() string {
	return `Lifts the limits spend_runs_hour and so on in the running instance. What is used meanwhile counts: when the time is over, it may take a while until requests are let through again.`
}

func (c *allowCmd) Run(p *process) error {
	if c.For < 0 || c.For > 24*time.Hour {
		return &usageError{fmt.Errorf("--for must be from 0s to 24h")}
	}
	_, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	status, err := client.Allow(ctx, c.For)
	if err != nil {
		return err
	}
	if until := status.Guard.AllowedUntil; until != nil {
		fmt.Fprintf(p.stdout, "no limits until %s\n", until.Local().Format("Jan 2, 15:04"))
	} else {
		fmt.Fprintln(p.stdout, "the limits hold")
	}
	return nil
}

// limitsText tells of a limit that refuses requests, and of limits that were
// lifted; "" while there is nothing unusual.
func limitsText(g control.Guard) string {
	switch {
	case g.AllowedUntil != nil:
		return "lifted until " + g.AllowedUntil.Local().Format("Jan 2, 15:04")
	case g.Reached != "" && g.Until != nil:
		return fmt.Sprintf("%s is reached, free again on %s; cursortray allow lifts it", g.Reached, g.Until.Local().Format("Jan 2, 15:04"))
	case g.Reached != "":
		return g.Reached + " is reached; cursortray allow lifts it"
	}
	return ""
}
