// Package agentcli is the back-end that drives Cursor's own command-line program:
// one child process per request, the prompt on its standard input, its stream of
// JSON lines turned into events. It finds the program, keeps it away from the
// user's files, limits how many run and ends them when nobody wants the answer
// any more, also when cursortray itself is killed. It does not log in, stores no
// credentials and reads none.
//
// A turn is read and parsed on the goroutine that ranges over it. Each process
// has goroutines that feed it, gather its errors and wait for its end, and while
// there are any a small guardian process waits for this program's; they belong
// to the Backend, whose Close waits for them.
package agentcli

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"cursortray/proxy/chat"
)

// Config is what a Backend needs. The zero value works.
type Config struct {
	// Binary is the path or the name of the CLI; "" searches for it.
	Binary string
	// Workspaces is the folder in which private folders are made; "" is the
	// system's folder for temporary files, which also stands in where this one
	// cannot be written to.
	Workspaces string
	// MaxRuns limits how many processes run at once; 0 is 3.
	MaxRuns int
	// Resume continues a chat of the CLI where a request only adds to a
	// conversation, instead of sending all of it again.
	Resume   bool
	Timeouts Timeouts
	Logger   *slog.Logger // nil logs nothing
	// Environ is the environment that children are given, without what they
	// must not see; nil is the one of this process.
	Environ []string
}

// Backend answers turns with processes of the Cursor CLI.
type Backend struct {
	config  Config
	limits  Timeouts
	log     *slog.Logger
	env     environment
	hide    redaction
	folders *folders

	children children
	queue    *queue
	gate     lock // of children that share the user's settings file

	found        atomic.Pointer[program]
	locating     lock
	passed       []passedOver // in the last search; locating guards it
	login        atomic.Pointer[login]
	askingLogin  lock
	models       atomic.Pointer[modelList]
	askingModels lock
	noTrust      atomic.Bool // this build does not know --trust

	talks *talks // nil without resume

	closing sync.Once
	mu      sync.Mutex
	closed  bool
	behind  sync.WaitGroup // fetches that no request waits for
}

var _ chat.Backend = (*Backend)(nil)

// New returns a Backend. It starts and searches for nothing until it is used.
func New(config Config) *Backend {
	environ := config.Environ
	if environ == nil {
		environ = os.Environ()
	}
	log := config.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	runs := config.MaxRuns
	if runs <= 0 {
		runs = defaultRuns
	}
	b := &Backend{
		config: config, limits: config.Timeouts.withDefaults(), log: log,
		env:      newEnvironment(environ),
		children: children{guard: newGuardian(log)},
		folders:  newFolders(log, config.Workspaces, runs),
		gate:     newLock(), locating: newLock(), askingLogin: newLock(), askingModels: newLock(),
	}
	b.hide = redaction{home: b.env.lookup(homeVariable), secrets: b.env.secrets()}
	b.queue = newQueue(runs, b.children.hurry)
	if config.Resume {
		b.talks = &talks{}
	}
	return b
}

// Chat implements chat.Backend. It runs on the goroutine of the loop.
func (b *Backend) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		j := &job{b: b, req: req, yield: yield}
		if err := j.serve(ctx); err != nil && !j.left {
			yield(nil, err)
		}
	}
}

// Check implements chat.Backend.
func (b *Backend) Check(ctx context.Context) error {
	if b.isClosed() {
		return shuttingDown()
	}
	if _, err := b.locate(ctx); err != nil {
		return err
	}
	l, err := b.checkLogin(ctx)
	if err != nil {
		return err
	}
	if !l.loggedIn {
		return b.fail(classAuth, "")
	}
	return nil
}

// Close implements chat.Backend.
func (b *Backend) Close() error {
	b.closing.Do(func() {
		b.mu.Lock()
		b.closed = true
		b.mu.Unlock()
		b.queue.close()
	})
	b.children.close()
	b.behind.Wait()
	return b.folders.close()
}

func (b *Backend) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// background runs f on a goroutine that Close waits for, unless it is too late.
func (b *Backend) background(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.behind.Go(f)
	return true
}

// fail makes the error of a class that no run of the CLI has told.
func (b *Backend) fail(class, model string) *chat.Error {
	return (&failure{class: class}).chatError(model)
}
