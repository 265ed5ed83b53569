package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"cursortray/app"
	"cursortray/app/control"
)

type usageCmd struct {
	jsonFlag
	Refresh bool `help:"Ask Cursor, even if the figures are only seconds old."`
	ledgerFlags
}

func (usageCmd) Help() string {
	return `With --json:

    {"title": text, "lines": [{"label": text, "value": text}],
     "age": age of figures that are not new, "problem": why there are no newer,
     "figures": {"name": text,
       "state": "not_reported", "ok", "near_limit" or "limited",
       "team": bool, "cursor_models_percent": number,
       "other_models_percent": number,
       "included": {"used_usd": dollars as text, "limit_usd": likewise},
       "bonus_usd": dollars as text,
       "on_demand": {"state": "on" or "off", "used_usd", "limit_usd"},
       "pool": {"used_usd", "limit_usd"}, "requests": {"used", "limit"},
       "credits_left_usd": dollars as text,
       "stage": "auto_switch", "slow_pool" or "hard_block",
       "resets_at": time, "fetched_at": time}}

What Cursor does not report is absent.` + ledgerHelp
}

func (c *usageCmd) Run(p *process) error {
	s, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), modelsTime)
	defer cancel()
	if asked, err := c.asked(c.JSON); err != nil {
		return err
	} else if asked {
		return p.printLedger(ctx, s, client, c.ledgerFlags, c.JSON)
	}
	usage, err := client.Usage(ctx, c.Refresh)
	if errors.Is(err, control.ErrNotRunning) {
		usage, err = p.usageHere(ctx, s)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(usage)
	}
	return p.printUsage(usage)
}

func (p *process) usageHere(ctx context.Context, s *setup) (control.Usage, error) {
	a, err := p.ownAccount(s)
	if err != nil {
		return control.Usage{}, err
	}
	defer a.close()
	got, err := app.PlanOf(ctx, app.CursorAccount{Account: a.cursor}, true)
	if err != nil {
		return control.Usage{}, err
	}
	return control.UsageOf(got)
}

func (p *process) printUsage(u control.Usage) error {
	title := u.Title
	if u.Age != "" {
		title += " (" + u.Age + ")"
	}
	fmt.Fprintln(p.stdout, title)
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, l := range u.Lines {
		fmt.Fprintf(out, "%s\t%s\n", l.Label, l.Value)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if u.Problem != "" {
		fmt.Fprintln(p.stderr, "cursortray: no newer figures: "+u.Problem)
	}
	return nil
}
