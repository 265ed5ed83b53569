package ledger

import (
	"context"
	"time"
)

// write is the writer's goroutine.
func (l *Ledger) write() {
	w := writer{ledger: l}
	defer w.close()
	var flush chan struct{} // of somebody who waits
	for {
		if flush == nil {
			select {
			case <-l.wake:
				flush = l.gather(gatherTime, l.many)
			case flush = <-l.flushes:
			case <-l.stop:
				w.last()
				return
			}
		}
		done := w.takeAll()
		if flush != nil {
			close(flush)
			flush = nil
		}
		if !done {
			// Entries gather meanwhile, as far as the queue goes.
			flush = l.gather(retryTime, nil)
			poke(l.wake)
		}
	}
}

// gather waits, so that entries which come close together are written in one
// step. Somebody who wants to read, the end, or a signal of many cuts it short.
func (l *Ledger) gather(wait time.Duration, many <-chan struct{}) (flush chan struct{}) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-many:
	case flush = <-l.flushes:
	case <-l.stop:
	}
	return flush
}

// poke leaves a signal, unless there is one.
func poke(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// take empties the queue. The writer hands the old one back for reuse.
func (l *Ledger) take(spare []Entry) (batch []Entry, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, lost = l.queue, l.lost
	l.queue, l.lost = spare[:0], 0
	return batch, lost
}

// giveBack puts entries that could not be written before those that came since.
func (l *Ledger) giveBack(batch []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := append(batch, l.queue...)
	if over := len(queue) - maxQueue; over > 0 {
		queue = queue[over:] // the newest tell more
		l.lost += over
		l.dropped.Add(int64(over))
	}
	l.queue = queue
}

// writer is the state of the writer's goroutine.
type writer struct {
	ledger *Ledger
	file   *file // nil: not open
	spare  []Entry
	told   string // the last problem that the log was told
	pruned time.Time
	since  int // entries since the last pruning
}

const (
	// maxSpare is how large a queue may be that is kept for the next entries.
	maxSpare   = 1 << 10
	pruneTime  = time.Hour
	pruneAfter = 5_000 // entries
)

// takeAll writes what waits; false means that it waits on.
func (w *writer) takeAll() bool {
	l := w.ledger
	batch, lost := l.take(w.spare)
	w.spare = nil
	if lost > 0 {
		l.log.Warn("the ledger of requests could not keep up; some are not in it", "dropped", lost)
	}
	if len(batch) == 0 {
		return true
	}
	ctx := context.Background()
	err := w.put(ctx, batch)
	if damaged(err) {
		w.close()
		l.suspect.Store(true)
		err = w.put(ctx, batch)
	}
	if damaged(err) { // and a look at all of it found nothing
		w.close()
		if aside, moveErr := moveAside(l.path); moveErr == nil {
			l.log.Warn("the ledger of requests was damaged; a new one is begun", "problem", err.Error(), "old", aside)
			err = w.put(ctx, batch)
		}
	}
	if err != nil {
		w.close()
		w.tell(err)
		l.giveBack(batch)
		return false
	}
	w.told = ""
	if cap(batch) <= maxSpare {
		w.spare = batch[:0]
	}
	w.prune(ctx, len(batch))
	return true
}

func (w *writer) put(ctx context.Context, batch []Entry) error {
	if w.file != nil && w.file.gone(w.ledger.path) {
		// What is open can still be written, and nobody would ever read it.
		w.ledger.log.Warn("the file of the ledger was taken away or replaced; it goes on with what is there now")
		w.close()
	}
	if w.file == nil || w.ledger.suspect.Load() {
		w.close()
		file, err := openFile(ctx, w.ledger.path, w.ledger.suspect.Swap(false), w.ledger.log)
		if err != nil {
			return err
		}
		w.file = file
	}
	return w.file.insert(ctx, batch)
}

// prune takes old entries away, now and then.
func (w *writer) prune(ctx context.Context, added int) {
	w.since += added
	if time.Since(w.pruned) < pruneTime && w.since < pruneAfter {
		return
	}
	w.pruned, w.since = time.Now(), 0
	if err := w.file.prune(ctx, w.pruned.Add(-w.ledger.opts.MaxAge), w.ledger.opts.MaxBytes); err != nil {
		w.tell(err)
		if damaged(err) {
			w.ledger.suspect.Store(true)
		}
	}
}

// tell logs a problem once, not at each try.
func (w *writer) tell(err error) {
	if text := err.Error(); text != w.told {
		w.told = text
		w.ledger.log.Warn("the ledger of requests cannot be written; trying again", "problem", text)
	}
}

// last is the end: what cannot be written now is lost.
func (w *writer) last() {
	l := w.ledger
	if w.takeAll() {
		return
	}
	batch, lost := l.take(nil)
	if lost += len(batch); lost > 0 {
		l.dropped.Add(int64(len(batch)))
		l.log.Warn("the ledger of requests could not be written; some are not in it", "dropped", lost)
	}
}

func (w *writer) close() {
	if w.file != nil {
		w.file.close()
		w.file = nil
	}
}
