//go:build e2e

package e2e

import (
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// endless is an answer that does not end.
func endless(r *simserver.Run) error {
	for {
		if err := simserver.Steps(simserver.Text("word "), simserver.Pause(50*time.Millisecond))(r); err != nil {
			return err
		}
	}
}

// runCancel presses Ctrl-C in the middle of an answer: the client ends, and so
// does the run at Cursor that the user pays for.
func (s *suite) runCancel(t *testing.T, c client) {
	u := s.simulate(t)
	streaming := make(chan struct{}, 64)
	u.answering(simserver.Opening(), simserver.Text("Once "), func(*simserver.Run) error {
		streaming <- struct{}{}
		return nil
	}, endless)
	home, _ := project(t)
	between := record(t, u.url)
	cmd, out := s.ask(t, c, home, u.through(between), "Say hello").prepare(t.Context())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer endGroup(cmd)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	show := func() string { return tail(out.stdout.String()) + "\n" + tail(out.stderr.String()) }
	select {
	case <-streaming:
	case err := <-ended:
		t.Fatalf("it ended before its answer began: %v\n%s", err, show())
	case <-time.After(c.limit):
		endGroup(cmd)
		<-ended
		t.Fatalf("no answer began within %v\n%s", c.limit, show())
	}
	// The text has to reach the client; when it has, nobody tells.
	if !eventually(c.limit, func() bool { return between.streamed() > 0 }) {
		t.Error("nothing was streamed")
	}
	start := time.Now()
	interruptGroup(cmd)
	select {
	case <-ended:
	case <-time.After(faultLimit):
		endGroup(cmd)
		<-ended
		t.Errorf("it still ran %v after the interrupt\n%s", faultLimit, show())
	}
	u.rests(t, 2*time.Second)
	t.Logf("%s ended %v after the interrupt", c.name, time.Since(start).Round(10*time.Millisecond))
}
