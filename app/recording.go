package app

import (
	"context"
	"iter"
	"net/http"
	"path/filepath"

	"cursortray/proxy/chat"
)

// Recorder writes down the next request for a model, without what is said in
// it. *recording.Recorder is one. Its methods return at once and may be called
// at the same time.
type Recorder interface {
	// Arm makes the next request the recorded one, and calls done when it has
	// been written or could not be, from any goroutine.
	Arm(done func(path string, err error))
	// Disarm waits for no request any more. A recording that has begun goes on.
	Disarm()
	// Wrap returns a handler that records for next.
	Wrap(next http.Handler) http.Handler
	// Events returns what takes the back-end's events for the request of ctx; nil
	// if that is not recorded.
	Events(ctx context.Context) func(chat.Event, error)
}

// RecordingStatus says how it stands with the recording of a request.
type RecordingStatus struct {
	Waiting bool // the next request is recorded
	// N counts what has been recorded; Path is where the last one lies, and
	// Problem why it could not be written.
	N       int
	Path    string
	Problem string
}

// recordNext makes the next request a recorded one.
func (m *machine) recordNext() {
	recorder := m.app.cfg.Recorder
	if recorder == nil || m.quitting || m.snap.Recording.Waiting {
		return
	}
	m.snap.Recording.Waiting = true
	m.notify("The next request will be recorded, without what is said in it")
	recorder.Arm(func(path string, err error) {
		m.app.inbox.put(func(m *machine) { m.recorded(path, err) })
	})
}

func (m *machine) recorded(path string, err error) {
	r := &m.snap.Recording
	r.Waiting, r.Path, r.Problem = false, path, ""
	r.N++
	if err != nil {
		r.Problem = err.Error()
		m.app.cfg.Logger.Warn("a request could not be recorded", "error", err)
		m.notify("The request was not recorded: " + r.Problem)
		return
	}
	m.app.cfg.Logger.Info("a request was recorded", "path", path)
	m.notify("Recorded: " + filepath.Base(path))
}

func (m *machine) cancelRecord() {
	if m.snap.Recording.Waiting {
		m.app.cfg.Recorder.Disarm()
		m.snap.Recording.Waiting = false
		m.notify("The next request will not be recorded")
	}
}

// overheard is a back-end whose events are recorded along with their request.
type overheard struct {
	chat.Backend
	recorder Recorder
}

func (b overheard) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	turn, note := b.Backend.Chat(ctx, req), b.recorder.Events(ctx)
	if note == nil {
		return turn
	}
	return func(yield func(chat.Event, error) bool) {
		for event, err := range turn {
			note(event, err)
			if !yield(event, err) {
				return
			}
		}
	}
}
