package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"cursortray/app"
	"cursortray/app/control"
	"cursortray/proxy/chat"
	"cursortray/proxy/money"
)

const (
	// askTime is for answers that the instance has at hand.
	askTime = 15 * time.Second
	// quitTime is longer than the grace of running answers.
	quitTime = 20 * time.Second
)

type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON, whose fields stay as they are."`
}

// printJSON writes value for programs.
func (p *process) printJSON(value any) error {
	out := json.NewEncoder(p.stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(value)
}

// client loads the settings and returns the way to the running instance.
func (p *process) client() (*setup, *control.Client, error) {
	s, err := p.load()
	if err != nil {
		return nil, nil, err
	}
	return s, control.NewClient(s.dirs.Runtime), nil
}

type statusCmd struct {
	jsonFlag
}

func (statusCmd) Help() string {
	return `Exits with 1 when no instance is running; then it tells who is logged in, and nothing else. With --json:

    {"running": bool, "version": text, "pid": number, "demo": bool,
     "proxy": {
       "state": "stopped", "starting", "running", "stopping" or "blocked",
       "address": text, "base_url": text, "active": requests being answered,
       "owner": who holds a blocked port, "problem": text},
     "backend": {
       "name": text, "choice": "auto", "agent" or "cli", "reason": text,
       "account": text, "problem": text},
     "account": {
       "state": "none", "unread", "out", "pending", "in" or "expired",
       "email": text, "storage": "keychain", "file" or "memory",
       "warning": why the login will not last, "problem": text},
     "editors": [{"id", "name": text, "found", "keyed", "off": bool,
       "state": text, "last_used": time, "requests": of the last 24 hours}],
     "conversations": [{
       "n": counts them, "model": id, "turns": number, "last": time,
       "routed_model": name of the model that Cursor chose for "auto",
       "cost_usd": dollars as text, by the table of prices,
       "cost_is_more": bool, "context": {
         "used_tokens": number, "max_tokens": number, "percent": number,
         "stale": bool, "parts": [{"id", "label": text, "tokens": number}]}}],
     "guard": {
       "reached": the spend limit that refuses requests, "until": time,
       "allowed_until": when lifted limits hold again,
       "runs_hour": requests of the last hour,
       "spent_day_usd": dollars as text, by the table of prices},
     "autostart": bool, "log_file": path,
     "recording": {
       "waiting": the next request is recorded, "n": counts them,
       "path": of the last one, "problem": why it was not written},
     "problems": [{
       "area": "port", "key", "login", "plan" or "backend",
       "message": text}]}

Texts that are empty or not known are absent.`
}

func (c *statusCmd) Run(p *process) error {
	s, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	status, err := client.Status(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return c.notRunning(ctx, p, s)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(status)
	}
	return p.printStatus(status)
}

func (c *statusCmd) notRunning(ctx context.Context, p *process, s *setup) error {
	a, err := p.ownAccount(s)
	if err != nil {
		return err
	}
	defer a.close()
	asking, cancel := context.WithTimeout(ctx, identifyTime)
	defer cancel()
	_ = a.cursor.Identify(asking) // without the name it tells less
	status := control.NotRunning(accountHere(ctx, a))
	if c.JSON {
		err = p.printJSON(status)
	} else if _, err = fmt.Fprintln(p.stdout, "login  "+accountText(status.Account)); err == nil {
		return control.ErrNotRunning
	}
	if err != nil {
		return err
	}
	return errTold
}

// accountText tells in words who is logged in.
func accountText(a control.Account) string {
	switch a.State {
	case "in":
		text := "logged in"
		if a.Email != "" {
			text += " as " + a.Email
		}
		if a.Warning != "" {
			text += "; " + a.Warning
		}
		return text
	case "pending":
		return "waiting for the login to be confirmed in the browser"
	case "unread":
		return "not known yet: the store of secrets has not answered"
	}
	if a.Problem != "" {
		return a.Problem
	}
	return "nobody is logged in; cursortray login does it"
}

// loginText leaves what is wrong to the list of problems, if it is in there.
func loginText(s control.Status) string {
	told := slices.ContainsFunc(s.Problems, func(p control.Problem) bool { return p.Message == s.Account.Problem })
	if s.Account.Problem == "" || !told {
		return accountText(s.Account)
	}
	return "nobody is logged in, see the problem below"
}

// maxConversations is how many of them the text tells, the newest first. A day
// may have hundreds.
const maxConversations = 10

func (p *process) printStatus(s control.Status) error {
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	line := func(label, format string, args ...any) {
		fmt.Fprintf(out, "%s\t"+format+"\n", append([]any{label}, args...)...)
	}
	line("cursortray", "%s, process %d", s.Version, s.PID)
	proxy := s.Proxy.State
	if s.Proxy.State == "running" {
		proxy = fmt.Sprintf("running on %s, requests: %d", s.Proxy.Address, s.Proxy.Active)
	}
	line("proxy", "%s", proxy)
	if s.Proxy.BaseURL != "" {
		line("base URL", "%s", s.Proxy.BaseURL)
	}
	line("back-end", "%s", backendText(s.Backend))
	if s.Backend.Account != "" {
		line("account", "%s", s.Backend.Account)
	}
	if s.Account.State != "none" {
		line("login", "%s", loginText(s))
	}
	if text := editorsText(s.Editors, time.Now()); text != "" {
		line("editors", "%s", text)
	}
	for _, c := range s.Conversations[:min(len(s.Conversations), maxConversations)] {
		line("conversation", "%s", conversationText(c))
	}
	if more := len(s.Conversations) - maxConversations; more > 0 {
		line("", "and %d more; --json has all", more)
	}
	if text := limitsText(s.Guard); text != "" {
		line("limits", "%s", text)
	}
	if s.Demo {
		line("demo", "nothing is real")
	}
	for _, problem := range s.Problems {
		line("problem", "%s: %s", problem.Area, problem.Message)
	}
	return out.Flush()
}

// backendText tells which back-end it is, and why.
func backendText(b control.Backend) string {
	why := b.Choice
	if b.Reason != "" {
		why += ": " + b.Reason
	}
	return fmt.Sprintf("%s (%s)", b.Name, why)
}

// conversationText tells the figures of a conversation.
func conversationText(c control.Conversation) string {
	text := fmt.Sprintf("%s, turns: %d", app.ModelText(c.Model, c.Routed), c.Turns)
	if c.Cost != "" {
		cost := "$" + c.Cost
		if exact, err := money.Parse(c.Cost); err == nil {
			cost = exact.Short()
		}
		text += ", " + cost
		if c.AtLeast {
			text += " or more"
		}
	}
	if c.Context == nil {
		return text + ", context: not reported"
	}
	context := chat.Context{Used: c.Context.Used, Max: c.Context.Max}
	return text + ", " + app.ContextLine(&context, c.Context.Stale)
}

type startCmd struct{}

func (startCmd) Run(p *process) error {
	return p.control("running", func(ctx context.Context, c *control.Client) (control.Status, error) { return c.Start(ctx) })
}

type stopCmd struct{}

func (stopCmd) Run(p *process) error {
	return p.control("stopped", func(ctx context.Context, c *control.Client) (control.Status, error) { return c.Stop(ctx) })
}

// control asks for a change and fails unless the proxy came to the wanted
// state.
func (p *process) control(wanted string, ask func(context.Context, *control.Client) (control.Status, error)) error {
	_, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	status, err := ask(ctx, client)
	if err != nil {
		return err
	}
	if status.Proxy.State == wanted {
		return p.printStatus(status)
	}
	if status.Proxy.Problem != "" {
		return errors.New(status.Proxy.Problem)
	}
	return fmt.Errorf("the proxy is %s", status.Proxy.State)
}

type quitCmd struct{}

func (quitCmd) Run(p *process) error {
	_, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), quitTime)
	defer cancel()
	return client.Quit(ctx)
}
