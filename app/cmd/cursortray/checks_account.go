package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cursortray/keychain"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

const (
	// hostTime bounds one question to Cursor.
	hostTime = 10 * time.Second
	// goodClock is how far the clock may be off. A renewal of the login allows
	// for more, but certificates and other programs do not.
	goodClock = 2 * time.Minute
)

// checkAccount looks at the login at Cursor, where it lies, and whether
// Cursor's hosts answer with it.
func (p *process) checkAccount(ctx context.Context, s *setup) []finding {
	a, err := p.ownAccount(s)
	if err != nil {
		return []finding{{"account", bad, err.Error(), "correct the setting or the variable"}}
	}
	defer a.close()
	state := a.cursor.State(ctx)
	return []finding{
		keychainFinding(a, state),
		accountFinding(ctx, a, state),
		checkClock(ctx, a),
		agentHostFinding(ctx, a, state),
	}
}

func keychainFinding(a *account, state cursor.AccountState) finding {
	f := finding{Name: "keychain", State: good, Detail: "the " + a.store.Kind() + " store answers"}
	switch {
	case !state.SignedIn && state.Problem.Code == cursor.CodeUnreadable:
		f.State, f.Detail = bad, state.Problem.Message
		f.Remedy = storeRemedy(a.store.Kind(), state.Problem)
	case a.store.Kind() == "memory":
		f.State, f.Detail = doubt, "token_store is memory: a login lasts until cursortray ends"
		f.Remedy = "set token_store = \"keychain\" or \"file\""
	}
	return f
}

// storeRemedy mends a store of secrets that cannot be read. What is not there
// cannot be unlocked.
func storeRemedy(kind string, problem error) string {
	const file = "set token_store = \"file\" to keep the login in a private file"
	switch {
	case kind == "file":
		return "make the files of the login yours, or remove them and log in again"
	case errors.Is(problem, keychain.ErrUnavailable):
		return "start a keyring, such as gnome-keyring or KeePassXC, or " + file
	}
	return "unlock the keychain, or " + file
}

func accountFinding(ctx context.Context, a *account, state cursor.AccountState) finding {
	if !state.SignedIn {
		return finding{"account", doubt, state.Problem.Message, "cursortray login"}
	}
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	if err := a.cursor.Identify(ctx); err != nil {
		told := chat.AsError(err)
		f := finding{"account", doubt, "logged in, but " + told.Message, ""}
		if told.Kind == chat.LoginRequired {
			f = finding{"account", bad, told.Message, "cursortray login"}
		}
		return f
	}
	return finding{Name: "account", State: good, Detail: "logged in as " + a.cursor.State(ctx).Email}
}

// checkClock compares the clock with that of Cursor's API, which tells the time
// with every answer, also with a refusal.
func checkClock(ctx context.Context, a *account) finding {
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	host := a.hosts.API()
	asked := time.Now()
	theirs, err := a.cursor.Clock(ctx)
	if told := chat.AsError(err); told != nil && told.Code == cursor.CodeClock {
		return finding{"clock", bad, told.Message, "set the clock"}
	} else if told != nil {
		return finding{"clock", doubt, "not checked: " + host + " does not answer: " + told.Message, "check the network, HTTPS_PROXY and SSL_CERT_FILE"}
	}
	if theirs.IsZero() {
		return finding{"clock", doubt, "not checked: " + host + " does not tell the time", ""}
	}
	// They tell whole seconds, and their answer was made after the question.
	if off := asked.Sub(theirs); off.Abs() > goodClock {
		where := "ahead of"
		if off < 0 {
			where = "behind"
		}
		return finding{"clock", doubt, fmt.Sprintf("this computer's clock is %v %s Cursor's", off.Abs().Round(time.Minute), where), "set the clock"}
	}
	return finding{Name: "clock", State: good, Detail: "the clock is right, " + host + " answers"}
}

func agentHostFinding(ctx context.Context, a *account, state cursor.AccountState) finding {
	if !state.SignedIn {
		return finding{"agent-host", doubt, "not checked: nobody is logged in", "cursortray login"}
	}
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	origin, err := a.cursor.AgentHost().Origin(ctx)
	if err != nil {
		return finding{"agent-host", bad, chat.AsError(err).Message, "check the network, HTTPS_PROXY and SSL_CERT_FILE"}
	}
	return finding{Name: "agent-host", State: good, Detail: "models run on " + origin}
}
