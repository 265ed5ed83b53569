package keychain

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// reachLimit is how long the operating system's store may take to say
	// that it is there at all.
	reachLimit = 5 * time.Second
	// callLimit is for a whole call. It is that long because the system may be
	// asking the user for a password; GitHub's CLI allows 3 s, which is too
	// short to type one.
	callLimit = 60 * time.Second
)

// System returns the operating system's own store: the Secret Service on
// Linux, the Keychain on macOS, the Credential Manager on Windows. service
// names this program in it. No call takes longer than 60 s, and none longer
// than 5 s while the store does not even answer.
//
// Create it once per process: calls of one store take turns, because a
// password prompt of one call would confuse another.
func System(service string) Store {
	return &system{items: native{service: service}, reach: reachNative}
}

type system struct {
	items items
	// reach reports whether the store is there and, if that can be told
	// beforehand, whether it is locked. It and items may hang.
	reach func() (locked bool, err error)

	mu      sync.Mutex
	running *call
}

// call is one call's goroutine, which may outlive its caller.
type call struct {
	reached   chan struct{} // closed when the store is known to be there
	done      chan struct{} // closed at the goroutine's end
	abandoned chan struct{} // closed when the caller has gone
	locked    bool          // valid after reached
	value     []byte        // valid after done
	err       error         // valid after done
}

func (s *system) Kind() string { return "keychain" }

func (s *system) Get(ctx context.Context, name string) ([]byte, error) {
	value, err := s.do(ctx, name, func(it items) ([]byte, error) { return load(it, name) })
	if err != nil {
		return nil, fmt.Errorf("read %s from the keychain: %w", name, err)
	}
	return value, nil
}

func (s *system) Set(ctx context.Context, name string, value []byte) error {
	if len(value) > maxValue {
		return fmt.Errorf("keychain: %d bytes are too many for a secret", len(value))
	}
	value = append([]byte(nil), value...) // the call may outlive the caller
	_, err := s.do(ctx, name, func(it items) ([]byte, error) { return nil, save(it, name, value) })
	if err != nil {
		return fmt.Errorf("store %s in the keychain: %w", name, err)
	}
	return nil
}

func (s *system) Delete(ctx context.Context, name string) error {
	_, err := s.do(ctx, name, func(it items) ([]byte, error) { return nil, remove(it, name) })
	if err != nil {
		return fmt.Errorf("delete %s from the keychain: %w", name, err)
	}
	return nil
}

// do runs work in a goroutine of its own and waits for it within the limits.
func (s *system) do(ctx context.Context, name string, work func(items) ([]byte, error)) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, callLimit, errCallLimit)
	defer cancel()
	c, err := s.begin(limited)
	if err != nil {
		return nil, err
	}
	go s.run(limited, c, work)

	reach := time.NewTimer(reachLimit)
	defer reach.Stop()
	select {
	case <-c.reached:
	case <-reach.C:
		close(c.abandoned)
		return nil, fmt.Errorf("%w: it did not answer within %v; %s", ErrUnavailable, reachLimit, remedyAbsent)
	case <-limited.Done():
		close(c.abandoned)
		return nil, ended(limited, false)
	}
	select {
	case <-c.done:
	case <-limited.Done():
		close(c.abandoned)
		return nil, ended(limited, c.locked)
	}
	if c.err != nil && limited.Err() != nil && errors.Is(c.err, limited.Err()) {
		return nil, ended(limited, c.locked)
	}
	return c.value, c.err
}

// begin waits for the running call and makes a new one the running one. A call
// whose caller has given up gets reachLimit to come back; so a store that
// hangs for good holds one goroutine and nobody for long.
func (s *system) begin(ctx context.Context) (*call, error) {
	for {
		s.mu.Lock()
		current := s.running
		if current == nil {
			c := &call{reached: make(chan struct{}), done: make(chan struct{}), abandoned: make(chan struct{})}
			s.running = c
			s.mu.Unlock()
			return c, nil
		}
		s.mu.Unlock()
		select {
		case <-current.done:
		case <-ctx.Done():
			return nil, ended(ctx, false)
		case <-current.abandoned:
			if err := awaitAbandoned(ctx, current); err != nil {
				return nil, err
			}
		}
	}
}

func awaitAbandoned(ctx context.Context, c *call) error {
	grace := time.NewTimer(reachLimit)
	defer grace.Stop()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ended(ctx, false)
	case <-grace.C:
		return fmt.Errorf("%w: an earlier call has not come back; answer its password prompt if there is one, else %s",
			ErrUnavailable, remedyAbsent)
	}
}

// run is a call's goroutine.
func (s *system) run(ctx context.Context, c *call, work func(items) ([]byte, error)) {
	reached := false
	defer func() {
		// go-keyring dereferences a nil signal when the bus goes away during a
		// prompt (v0.2.8); that must not end the program.
		if p := recover(); p != nil {
			c.value, c.err = nil, fmt.Errorf("%w: the connection to it broke", ErrUnavailable)
		}
		s.mu.Lock()
		s.running = nil
		s.mu.Unlock()
		close(c.done)
		if !reached {
			close(c.reached)
		}
	}()
	locked, err := s.reach()
	if err != nil {
		c.err = err
		return
	}
	c.locked, reached = locked, true
	close(c.reached)

	it := bounded{ctx, s.items}
	c.value, c.err = work(it)
	if !locked || c.err == nil || ctx.Err() != nil || errors.Is(c.err, ErrNotFound) || errors.Is(c.err, ErrCorrupt) {
		return
	}
	// A call that has to unlock first can fail although the user did unlock:
	// the library takes the first signal on its shared connection for the
	// prompt's answer. So look again; asking a second time after a refusal
	// would annoy.
	if locked, err = s.reach(); err == nil && !locked {
		c.value, c.err = work(it)
	} else if err == nil && !errors.Is(c.err, ErrLocked) {
		c.err = fmt.Errorf("%w; %s", ErrLocked, remedyLocked)
	}
}

var errCallLimit = errors.New("time limit")

// ended turns the end of ctx into an error that says what it probably was.
func ended(ctx context.Context, locked bool) error {
	cause := ctx.Err()
	switch {
	case errors.Is(cause, context.Canceled):
		return cause
	case locked:
		return fmt.Errorf("%w: nobody unlocked it in time; %s (%w)", ErrLocked, remedyLocked, cause)
	}
	return fmt.Errorf("%w: it took too long; answer its password prompt if there is one, else %s (%w)",
		ErrUnavailable, remedyAbsent, cause)
}
