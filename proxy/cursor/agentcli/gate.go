package agentcli

import (
	"context"
	"sync"
	"time"
)

// lock is a mutex that one can stop waiting for.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) acquire(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) release() { <-l }

// gateTime is the longest time that one start holds up the next.
const gateTime = 2 * time.Second

// passGate waits until the former child that shares the user's settings file has
// begun to print: two processes that start at once rename each other's
// cli-config.json.tmp away and fail. The result lets the next one pass; it is
// called by itself after gateTime, and more calls do nothing.
func passGate(ctx context.Context, gate lock) (passed func(), err error) {
	if err := gate.acquire(ctx); err != nil {
		return nil, err
	}
	release := sync.OnceFunc(gate.release)
	timer := time.AfterFunc(gateTime, release)
	return func() {
		timer.Stop()
		release()
	}, nil
}
