package main

import (
	"context"
	"fmt"
)

type copyCmd struct {
	What string `arg:"" enum:"url,anthropic-url,key,env" help:"url, anthropic-url, key or env."`
}

func (copyCmd) Help() string {
	return `Puts on the clipboard what the menu does: url is the base URL for clients of the OpenAI API, anthropic-url that for the
Anthropic API, key the local API key, env shell lines that set all of them. Nothing of it is printed.`
}

func (c *copyCmd) Run(p *process) error {
	_, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	text, err := client.Copy(ctx, c.What)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, text)
	return err
}

type backendCmd struct {
	Setting string `arg:"" enum:"auto,agent,cli" help:"auto, agent or cli."`
	jsonFlag
}

func (backendCmd) Help() string {
	return `Fixes the way to Cursor of new conversations, now and after the next start; auto takes whichever works. A conversation stays
on the way it began on. With --json it prints what cursortray status --json does.`
}

func (c *backendCmd) Run(p *process) error {
	_, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	status, err := client.Backend(ctx, c.Setting)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(status)
	}
	text := "new conversations: " + status.Backend.Choice
	if status.Backend.Name != "" && status.Backend.Reason != "" { // without one the choice is not made yet
		text += " (" + status.Backend.Name + ")"
	}
	_, err = fmt.Fprintln(p.stdout, text)
	return err
}
