package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"cursortray/app"
	"cursortray/app/control"
	"cursortray/app/notify"
)

// runInstance runs the App with its control socket until it is told to end, and
// returns when all of it is gone. face, if there is one, gets the calling
// goroutine, which is the main one, as trays ask for; its ctx ends with the
// App, however early the face itself gives up.
func (p *process) runInstance(i *instance, face func(ctx context.Context)) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopSignals := onSignals(func() { i.app.Do(app.Quit{}) })
	defer stopSignals()

	var tasks sync.WaitGroup
	tasks.Go(func() { p.announce(i.app.Watch(ctx)) })
	if i.holder != nil {
		tasks.Go(func() {
			err := i.holder.Serve(ctx, control.Config{Instance: i.app, Keys: i.keys, Account: i.app, EditorKeys: i.editors, Models: i.app.Models, Dashboard: i.app.DashboardLink, Logger: i.logger})
			if err != nil {
				i.logger.Warn("the control socket broke", "error", err)
			}
		})
	}
	var err error
	if face == nil {
		err = i.app.Run(ctx)
	} else {
		tasks.Go(func() { notify.Run(ctx, i.app, i.logger) })
		faceCtx, endFace := context.WithCancel(ctx)
		tasks.Go(func() {
			defer endFace()
			err = i.app.Run(ctx)
		})
		face(faceCtx)
		<-faceCtx.Done()
	}
	cancel()
	tasks.Wait()
	return errors.Join(err, i.close())
}

// announce prints where the proxy listens, for people and for scripts that
// wait for it: once, and again only if it comes back elsewhere.
func (p *process) announce(snapshots <-chan app.Snapshot) {
	said := ""
	for s := range snapshots {
		if at := strings.TrimSuffix(s.Proxy.BaseURL, "/v1"); s.Proxy.State == app.Running && at != said {
			fmt.Fprintf(p.stdout, "listening on %s\n", at)
			said = at
		}
	}
}

// patience is how many signals end cursortray the orderly way: the first lets
// running answers end, the second cuts them. Then the process just goes.
const patience = 2

// onSignals calls quit for each of the signals that ask a program to end, and
// gives up on order when they keep coming. stop ends that.
func onSignals(quit func()) (stop func()) {
	signals := make(chan os.Signal, patience+1)
	asked := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup wants it ignored
		asked = append(asked, syscall.SIGHUP)
	}
	signal.Notify(signals, asked...)
	var done sync.WaitGroup
	done.Go(func() {
		n := 0
		for range signals {
			if n++; n > patience {
				os.Exit(exitFailed)
			}
			quit()
		}
	})
	return func() {
		signal.Stop(signals)
		close(signals)
		done.Wait()
	}
}
