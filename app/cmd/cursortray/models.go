package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"cursortray/app/control"
)

// modelsTime is for a back-end that starts a program and asks a server.
const modelsTime = 60 * time.Second

type modelsCmd struct {
	jsonFlag
}

func (modelsCmd) Help() string {
	return `Asks the running instance, else Cursor itself. With --json:

    [{"id": text, "name": text, "context_window": tokens,
      "max_output": tokens, "images": bool, "reasoning": bool,
      "default": bool}]

Figures that are not known are absent.`
}

func (c *modelsCmd) Run(p *process) error {
	s, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), modelsTime)
	defer cancel()
	models, err := client.Models(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		models, err = p.askBackend(ctx, s)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(models)
	}
	return p.printModels(models)
}

func (p *process) askBackend(ctx context.Context, s *setup) ([]control.Model, error) {
	with := p.backend(s, false, p.briefLogger(s))
	models, err := with.backend.Models(ctx)
	if err := errors.Join(err, with.backend.Close()); err != nil {
		return nil, err
	}
	return control.ModelsOf(models), nil
}

func (p *process) printModels(models []control.Model) error {
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, m := range models {
		var notes []string
		if m.ContextWindow > 0 {
			notes = append(notes, fmt.Sprintf("%dk context", m.ContextWindow/1000))
		}
		if m.Default {
			notes = append(notes, "default")
		}
		fmt.Fprintln(out, strings.TrimRight(m.ID+"\t"+m.Name+"\t"+strings.Join(notes, ", "), "\t"))
	}
	return out.Flush()
}
