package agentcli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	killDelay  = time.Second            // from the request to end to the end by force
	drainDelay = 500 * time.Millisecond // for pipes that processes outside the group still hold
	maxStderr  = 64 << 10
)

// launch is everything that starts one process.
type launch struct {
	command command
	args    []string
	dir     string
	env     []string
	stdin   string
	gone    func() // called once when the process and its group are gone; may be nil
}

// child is one process of the CLI together with everything that it started.
// Reading belongs to one goroutine, which calls drop at its end; all other
// methods may be called by any.
type child struct {
	cmd    *exec.Cmd
	group  *group
	stdout *os.File
	stderr tail
	err    error         // of Wait; set before over closes
	over   chan struct{} // closes when the process is gone

	why   atomic.Int32 // a stopReason
	alone atomic.Bool  // the process is gone, the pipe may still hold data
	users atomic.Int32 // of stdout: the reader and the process

	mu        sync.Mutex
	reaped    bool
	killer    *time.Timer
	lingering *time.Timer // the grace after the result
}

// stopReason says why a child was ended from here.
type stopReason int32

const (
	notStopped   stopReason = iota
	stopFinished            // the answer is complete, or nobody wants the rest
	stopCanceled            // the request's context ended
	stopSilent              // a time limit
	stopClosing             // the back-end closes
)

var errStopped = errors.New("the process was ended")

// startChild starts a process. The caller has to arrange for wait to be called.
func startChild(l launch) (*child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	c := &child{stdout: r, over: make(chan struct{})}
	c.stderr.limit = maxStderr
	args := append(append([]string(nil), l.command.args...), l.args...)
	c.cmd = exec.Command(l.command.path, args...)
	c.cmd.Dir = l.dir
	c.cmd.Env = append(append(l.env[:len(l.env):len(l.env)], l.command.env...), "PWD="+l.dir)
	c.cmd.Stdin = strings.NewReader(l.stdin) // written by a goroutine of its own, which Wait waits for
	c.cmd.Stdout = w
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = drainDelay
	prepare(c.cmd)
	if err := c.cmd.Start(); err != nil {
		r.Close()
		return nil, err
	}
	c.group = adopt(c.cmd)
	c.users.Store(2)
	return c, nil
}

// wait returns when the process is gone, and ends what it left behind.
func (c *child) wait() {
	c.err = c.cmd.Wait()
	c.mu.Lock()
	c.reaped = true
	c.group.kill()
	c.group.close()
	for _, timer := range []*time.Timer{c.killer, c.lingering} {
		if timer != nil {
			timer.Stop()
		}
	}
	c.mu.Unlock()
	c.alone.Store(true)
	c.extendRead()
	close(c.over)
	c.drop()
}

// drop gives up one of the two uses of the pipe: the process must not find it
// broken because its reader is content.
func (c *child) drop() {
	if c.users.Add(-1) == 0 {
		c.stdout.Close()
	}
}

// Read reads the standard output. After stop it fails at once.
func (c *child) Read(p []byte) (int, error) {
	if c.stopped() != notStopped {
		return 0, errStopped
	}
	if c.alone.Load() {
		c.extendRead()
	}
	n, err := c.stdout.Read(p)
	switch {
	case err == nil || err == io.EOF:
	case c.stopped() != notStopped:
		err = errStopped
	case c.alone.Load(): // a process outside the group holds the pipe
		err = io.EOF
	}
	return n, err
}

// extendRead bounds the next read. Pipes on Windows have no deadlines; there the
// job object has ended all holders.
func (c *child) extendRead() {
	if c.stopped() == notStopped {
		c.stdout.SetReadDeadline(time.Now().Add(drainDelay))
	}
}

// stop begins to end the group and fails the reader. It does not wait.
func (c *child) stop(why stopReason) {
	if !c.why.CompareAndSwap(int32(notStopped), int32(why)) {
		return
	}
	c.stdout.SetReadDeadline(time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return
	}
	c.group.terminate()
	c.killer = time.AfterFunc(killDelay, c.kill)
}

func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		c.group.kill()
	}
}

func (c *child) stopped() stopReason { return stopReason(c.why.Load()) }

// linger gives a child that has printed its result time to end by itself.
// Builds of 2026 sometimes never do.
func (c *child) linger(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped || c.stopped() != notStopped {
		return
	}
	if c.lingering != nil {
		c.lingering.Reset(grace)
		return
	}
	c.lingering = time.AfterFunc(grace, func() { c.stop(stopFinished) })
}

// hurry shortens the grace of a lingering child.
func (c *child) hurry(grace time.Duration) {
	c.mu.Lock()
	linger := c.lingering != nil && !c.reaped
	c.mu.Unlock()
	if linger {
		c.linger(grace)
	}
}

// exit tells how the process ended. It may be called when over is closed.
func (c *child) exit() exit {
	x := exit{code: -1, stderr: c.stderr.text()}
	if state := c.cmd.ProcessState; state != nil {
		x.code = state.ExitCode()
		x.signal = signalName(state)
	}
	switch c.stopped() {
	case notStopped:
	case stopSilent:
		x.timeout = true
	default:
		x.byUs = true
	}
	return x
}

// tail keeps the last bytes of a stream, from the start of a line.
type tail struct {
	limit int
	mu    sync.Mutex
	kept  []byte
	cut   bool
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if n := len(t.kept) - t.limit; n > 0 {
		t.kept = append(t.kept[:0], t.kept[n:]...)
		t.cut = true
	}
	return len(p), nil
}

func (t *tail) text() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.cut {
		return append([]byte(nil), t.kept...)
	}
	_, whole, _ := strings.Cut(string(t.kept), "\n")
	return []byte(whole)
}
