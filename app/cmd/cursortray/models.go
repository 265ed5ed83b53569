package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"cursortray/app"
	"cursortray/app/control"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// newestTime is for Cursor to send a list when an older one is at hand.
const newestTime = 10 * time.Second

// modelsTime is for a back-end that starts a program and asks a server.
const modelsTime = 60 * time.Second

type modelsCmd struct {
	jsonFlag
	Default string `placeholder:"ID" help:"Make this the model of requests for auto or default; auto leaves it to Cursor."`
}

func (modelsCmd) Help() string {
	return `Asks the running instance, else Cursor itself. The first line says which back-end has the models, and why it is that one. Prices are per million tokens, in and out; the last line says of which date. With --json, where those lines are absent:

    [{"id": text, "name": text, "group": id of the model it is a variant of,
      "aliases": [text], "context_window": tokens,
      "max_context_window": tokens, "max_output": tokens,
      "price": {"input": dollars per million tokens as text,
        "output", "cache_read", "cache_write": likewise},
      "images": bool, "reasoning": bool,
      "default": what a request for auto or default gets}]

Figures that are not known are absent.`
}

func (c *modelsCmd) Run(p *process) error {
	s, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), modelsTime)
	defer cancel()
	models, backend, err := c.ask(ctx, p, s, client)
	if err != nil {
		return err
	}
	if c.Default != "" {
		p.warnOfVariable()
	}
	if c.JSON {
		return p.printJSON(models)
	}
	// Who made the list has told what is wrong with the table.
	return p.printModels(models, backend, newPrices(s, slog.New(slog.DiscardHandler)).AsOf())
}

// ask gets the list, after the choice of a default if there is one, and which
// back-end it is from.
func (c *modelsCmd) ask(ctx context.Context, p *process, s *setup, client *control.Client) ([]control.Model, control.Backend, error) {
	var models []control.Model
	var err error
	if c.Default == "" {
		models, err = client.Models(ctx)
	} else {
		models, err = client.SetDefaultModel(ctx, c.Default)
	}
	if errors.Is(err, control.ErrNotRunning) {
		return c.askHere(ctx, p, s)
	}
	if err != nil || c.JSON {
		return models, control.Backend{}, err
	}
	status, err := client.Status(ctx)
	return models, status.Backend, err
}

// askHere is ask without an instance.
func (c *modelsCmd) askHere(ctx context.Context, p *process, s *setup) ([]control.Model, control.Backend, error) {
	here, backend, err := p.modelsHere(ctx, s)
	if err != nil {
		return nil, backend, err
	}
	chosen := s.settings.DefaultModel
	if c.Default != "" {
		if chosen, err = app.ChooseModelIn(here, c.Default); err != nil {
			return nil, backend, err
		}
		if err := s.file.Set("default_model", chosen); err != nil {
			return nil, backend, err
		}
	}
	return control.ModelsOf(app.NewDefaultModel(chosen).Mark(here)), backend, nil
}

// warnOfVariable tells that the environment will win over what was saved.
func (p *process) warnOfVariable() {
	const variable = "CURSORTRAY_DEFAULT_MODEL"
	if p.env(variable) != "" {
		fmt.Fprintf(p.stderr, "cursortray: warning: %s is set and wins over this choice at the next start\n", variable)
	}
}

// modelsHere asks the back-end and the account, without an instance. One of
// them is enough.
func (p *process) modelsHere(ctx context.Context, s *setup) (models []chat.Model, from control.Backend, err error) {
	a, err := p.ownAccount(s)
	if err != nil {
		return nil, from, err
	}
	backend := newBackend(s, a, p.briefLogger(s))
	catalog, noCatalog := p.newestList(ctx, a.cursor)
	models, err = backend.Models(ctx)
	switch {
	case err == nil:
		models = app.DescribeModels(models, catalog, a.prices)
	case noCatalog == nil:
		models, err = catalog.Models(), nil
	case chat.AsError(noCatalog).Code != cursor.CodeLoginRequired:
		err = noCatalog
	}
	now := backend.Now()
	if err := errors.Join(err, backend.Close(), a.close()); err != nil {
		return nil, from, err
	}
	return models, control.Backend{Name: now.Name, Choice: now.Setting, Reason: now.Reason}, nil
}

// newestList asks Cursor: no later moment comes at which a list that is stored
// would be renewed. One that is stored does where Cursor gives none, with its
// date.
func (p *process) newestList(ctx context.Context, account *cursor.Account) (*cursor.Catalog, error) {
	asking, cancel := context.WithTimeout(ctx, newestTime)
	defer cancel()
	catalog, failure := account.RefreshModels(asking)
	if failure == nil {
		return catalog, nil
	}
	catalog, err := account.Catalog(ctx)
	if err == nil {
		fmt.Fprintf(p.stderr, "cursortray: warning: the list of models is of %s: %s\n",
			catalog.Fetched().Local().Format("2006-01-02 15:04"), chat.AsError(failure).Message)
	}
	return catalog, err
}

func (p *process) printModels(models []control.Model, backend control.Backend, pricesOf string) error {
	if _, err := fmt.Fprintf(p.stdout, "back-end: %s\n", backendText(backend)); err != nil {
		return err
	}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, m := range models {
		var notes []string
		if m.ContextWindow > 0 {
			notes = append(notes, windowText(m.ContextWindow)+" context")
		}
		if price := m.Price; price != nil && price.Input != "" && price.Output != "" {
			notes = append(notes, "$"+price.Input+" / $"+price.Output)
		}
		if m.Default {
			notes = append(notes, "default")
		}
		fmt.Fprintln(out, strings.TrimRight(m.ID+"\t"+m.Name+"\t"+strings.Join(notes, ", "), "\t"))
	}
	if err := out.Flush(); err != nil || pricesOf == "" {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "prices are as of %s\n", pricesOf)
	return err
}

// windowText says how many tokens a window has: "200k", "1M".
func windowText(tokens int) string {
	if tokens%1_000_000 == 0 {
		return fmt.Sprintf("%dM", tokens/1_000_000)
	}
	return fmt.Sprintf("%dk", tokens/1000)
}
