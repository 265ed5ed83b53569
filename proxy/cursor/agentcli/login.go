package agentcli

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	loginAge   = 30 * time.Second // how long a login that was seen counts
	silenceAge = 10 * time.Minute // and that the CLI does not tell
)

var loggedInPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Logged in as\s+(\S+)`)
})

// login is what `status` said.
type login struct {
	at       time.Time
	loggedIn bool
	silent   bool // it said nothing at all
	// moves says that the login is also found when CURSOR_CONFIG_DIR points to
	// another folder. It is on macOS, where it lies in the keychain; reports
	// about other systems disagree, so it is tried.
	moves bool
}

// checkLogin asks the CLI whether it is logged in. What was seen counts for
// loginAge, except that nobody is to wait that long after logging in.
func (b *Backend) checkLogin(ctx context.Context) (login, *chat.Error) {
	return b.loginThat(ctx, func(l login) bool { return l.loggedIn && time.Since(l.at) < loginAge })
}

// settingsMove says whether a run may have its own CURSOR_CONFIG_DIR. A login
// that ran out since shows in the run, so what was seen once counts. A build
// whose sub-commands hang may answer prompts all the same; its silence is waited
// for once, not before every prompt.
func (b *Backend) settingsMove(ctx context.Context) (bool, *chat.Error) {
	if p := b.found.Load(); p != nil && p.mute && !b.env.hasKey {
		return false, nil
	}
	l, err := b.loginThat(ctx, func(l login) bool {
		age := time.Since(l.at)
		return l.loggedIn || l.silent && age < silenceAge || age < loginAge
	})
	if err != nil && err.Kind == chat.Timeout && ctx.Err() == nil {
		return false, nil
	}
	return l.moves, err
}

// loginThat returns the last login if it is good enough, else a new one.
func (b *Backend) loginThat(ctx context.Context, good func(login) bool) (login, *chat.Error) {
	if b.env.hasKey { // the CLI uses the key instead of a stored login
		return login{loggedIn: true, moves: true}, nil
	}
	if l := b.login.Load(); l != nil && good(*l) {
		return *l, nil
	}
	if err := b.askingLogin.acquire(ctx); err != nil {
		return login{}, chat.AsError(err)
	}
	defer b.askingLogin.release()
	if l := b.login.Load(); l != nil && good(*l) {
		return *l, nil
	}
	p, problem := b.locate(ctx)
	if problem != nil {
		return login{}, problem
	}
	l, err := b.askLogin(ctx, p)
	if err != nil {
		if ctx.Err() != nil {
			return login{}, chat.AsError(ctx.Err())
		}
		b.noteSilence(err)
		return login{}, b.askError(err)
	}
	b.login.Store(&l)
	return l, nil
}

// noteSilence remembers that the CLI does not tell its login, unless it once did.
func (b *Backend) noteSilence(err error) {
	mute := (*noAnswer)(nil)
	l := b.login.Load()
	if !errors.As(err, &mute) || l != nil && l.loggedIn {
		return
	}
	if l == nil || !l.silent {
		b.log.Warn("the Cursor CLI does not tell whether it is logged in")
	}
	b.login.Store(&login{at: time.Now(), silent: true})
}

// askLogin runs `status` with the planned environment first: where the login
// moves, one run says everything.
func (b *Backend) askLogin(ctx context.Context, p program) (login, error) {
	place, err := b.folders.private()
	if err != nil {
		return login{}, err
	}
	defer place.remove()
	moves, err := b.statusSays(ctx, p, place.config)
	if err != nil || moves {
		return login{at: time.Now(), loggedIn: moves, moves: moves}, err
	}
	loggedIn, err := b.statusSays(ctx, p, "")
	return login{at: time.Now(), loggedIn: loggedIn}, err
}

// statusSays runs `status`, with a settings folder of its own unless config is
// "". Anything but the known phrase is no login; the codes for cursor movement
// come even without a terminal.
func (b *Backend) statusSays(ctx context.Context, p program, config string) (loggedIn bool, err error) {
	if config == "" { // else it shares no settings file with others
		passed, err := passGate(ctx, b.gate)
		if err != nil {
			return false, err
		}
		defer passed()
	}
	out, err := b.ask(ctx, p.command, b.env.withConfig(config), probeLimit, "status")
	if err != nil {
		return false, err
	}
	text := stripANSI(out.stdout + "\n" + string(out.exit.stderr))
	return loggedInPattern().MatchString(text), nil
}

// askError is the error of a sub-command that did not answer.
func (b *Backend) askError(err error) *chat.Error {
	none, mute := (*noFolder)(nil), (*noAnswer)(nil)
	switch {
	case errors.Is(err, errClosed), errors.As(err, &none):
		return b.folderError(err)
	case errors.As(err, &mute):
		return mute.chatError()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return chat.AsError(err)
	}
	if gone := folderGone(err); gone != nil {
		return gone
	}
	p := b.found.Load()
	if unfit(err) {
		b.forget()
	}
	if p == nil {
		p = &program{}
	}
	return b.startFailure(p.command, err).chatError("")
}

// startFailure is why a program did not start.
func (b *Backend) startFailure(c command, err error) *failure {
	f := newParser(b.hide).endFailure(exit{code: -1, startErr: err})
	if f.class == classNotFound {
		passed := []passedOver{{c.named, c.path, startTrouble(c.path, err)}}
		f.advice, f.reason = b.notFound(passed).Message, ""
	}
	return f
}
