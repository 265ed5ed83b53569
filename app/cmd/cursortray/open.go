package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

type openCmd struct {
	Page      string `arg:"" optional:"" help:"overview, conversations, models, spend, requests, editors, settings, diagnosis or start."`
	NoBrowser bool   `help:"Print a link instead. It opens the dashboard once, within a minute."`
}

func (openCmd) Help() string {
	return `The dashboard is served on the proxy's port. It opens by a link that is good once and for a minute, so that other users and web pages stay out; then the browser is remembered until it or cursortray ends.`
}

// browserTime is how long a program that opens a browser may take to say that
// it could not. Some stay until the browser is closed.
const browserTime = 5 * time.Second

func (c *openCmd) Run(p *process) error {
	_, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	page, err := client.Dashboard(ctx, c.Page)
	if err != nil {
		return err
	}
	if !c.NoBrowser && p.hasScreen() {
		if p.browse(page.URL) == nil {
			return nil
		}
		fmt.Fprintln(p.stderr, "cursortray: the browser did not open; this link is good for a minute:")
	}
	_, err = fmt.Fprintln(p.stdout, page.URL)
	return err
}

// browse shows a page in the browser of whoever runs the command.
func (p *process) browse(url string) error {
	silenceBrowser()
	ctx, cancel := context.WithTimeout(context.Background(), browserTime)
	defer cancel()
	err := openPage(ctx, url)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // a program that stays is a browser
	}
	if err != nil {
		return errors.New("no browser could be started") // its own words hold the link
	}
	return nil
}

// firstStart tells, once, that cursortray has never been started before.
func firstStart(state string) bool {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return false
	}
	marker, err := os.OpenFile(filepath.Join(state, "started-before"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false // where it cannot be remembered, it would be told each time
	}
	return marker.Close() == nil
}
