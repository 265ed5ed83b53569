package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"cursortray/app/control"
	"cursortray/app/recording"
)

// recorder writes recordings into the state folder.
func (p *process) recorder(s *setup) *recording.Recorder {
	return recording.New(recording.Config{
		Folder: filepath.Join(s.dirs.State, "recordings"), Version: buildVersion(), Mask: p.stderr.masked,
	})
}

type recordCmd struct {
	Cancel bool `help:"Record no request after all."`
	jsonFlag
}

func (recordCmd) Help() string {
	return `Waits for the next request for a model and writes it down for a bug report, with
the answer: headers, structure, events and their times. Keys and everything that is
said are replaced by marks with the length and a hash; look at the file before you
give it away all the same. Prints the path of the file. Ctrl-C cancels. With --json:

    {"waiting": bool, "n": counts recordings, "path": of this one}`
}

func (c *recordCmd) Run(p *process) error {
	_, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.Cancel {
		was, err := client.RecordCancel(ctx)
		if err == nil && !was.Waiting {
			err = errors.New("no recording was waiting for a request")
		}
		return err
	}
	fmt.Fprintln(p.stderr, "cursortray: waiting for the next request; Ctrl-C cancels")
	done, err := client.Record(ctx)
	if ctx.Err() != nil {
		return errors.New("cancelled; no request was recorded")
	}
	if err != nil {
		return err
	}
	return c.tell(p, done)
}

func (c *recordCmd) tell(p *process, done control.Recording) error {
	if c.JSON {
		return p.printJSON(done)
	}
	_, err := fmt.Fprintln(p.stdout, done.Path)
	return err
}
