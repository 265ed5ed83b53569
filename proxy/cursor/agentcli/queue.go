package agentcli

import (
	"context"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	defaultRuns = 3  // more at once are said to be throttled by the service
	maxWaiting  = 32 // requests that may wait for one of them
	queueRetry  = 5 * time.Second
)

// queue limits how many runs there are at once; the others wait in order.
type queue struct {
	waits func() // called when a request begins to wait

	mu      sync.Mutex
	free    int
	waiting []chan struct{}
	closed  chan struct{}
}

func newQueue(runs int, waits func()) *queue {
	return &queue{free: runs, waits: waits, closed: make(chan struct{})}
}

// enter waits for a place. An ended ctx takes the request out of the queue.
func (q *queue) enter(ctx context.Context) *chat.Error {
	turn, err := q.line(ctx)
	if turn == nil {
		return err
	}
	q.waits()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		err = chat.AsError(ctx.Err())
	case <-q.closed:
		err = shuttingDown()
	}
	q.withdraw(turn)
	return err
}

// line takes a place, or returns a channel that closes when there is one.
func (q *queue) line(ctx context.Context) (turn chan struct{}, err *chat.Error) {
	if ctx.Err() != nil {
		return nil, chat.AsError(ctx.Err())
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.closed:
		return nil, shuttingDown()
	default:
	}
	if q.free > 0 {
		q.free--
		return nil, nil
	}
	if len(q.waiting) >= maxWaiting {
		full := chat.Errorf(chat.Overloaded, "too many requests wait for the Cursor CLI; try again soon")
		full.RetryAfter = queueRetry
		return nil, full
	}
	turn = make(chan struct{})
	q.waiting = append(q.waiting, turn)
	return turn, nil
}

// withdraw takes turn out of the line; a place that it just got goes on.
func (q *queue) withdraw(turn chan struct{}) {
	q.mu.Lock()
	for i, other := range q.waiting {
		if other == turn {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			q.mu.Unlock()
			return
		}
	}
	q.mu.Unlock()
	q.leave()
}

// leave gives a place to the first in line.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.free++
		return
	}
	close(q.waiting[0])
	q.waiting = q.waiting[1:]
}

// crowded says whether somebody waits.
func (q *queue) crowded() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0
}

// close fails all that wait and all that come. It may be called once.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.closed)
}

func shuttingDown() *chat.Error {
	return chat.Errorf(chat.ShuttingDown, "cursortray is ending")
}
