package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"cursortray/app/autostart"
	"cursortray/proxy/chat"
)

// fakeEntry is an entry that other programs change, too.
type fakeEntry struct {
	mu    sync.Mutex
	on    bool
	fails error
}

func (e *fakeEntry) State() (autostart.State, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return autostart.State{On: e.on}, nil
}

func (e *fakeEntry) Set(on bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fails == nil {
		e.on = on
	}
	return e.fails
}

func (e *fakeEntry) change(on bool, fails error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on, e.fails = on, fails
}

func TestAutostartIsWhatTheEntrySays(t *testing.T) {
	entry := &fakeEntry{on: true}
	r := newRig(t, func(c *Config) { c.Autostart = entry })
	is := func(what string, want AutostartStatus) {
		t.Helper()
		r.until(t, what, func(s Snapshot) bool { return s.Autostart == want })
	}
	is("at the start", AutostartStatus{Known: true, On: true})
	r.Do(SetAutostart{On: false})
	is("switched off", AutostartStatus{Known: true})
	entry.change(true, nil) // in the desktop's settings
	r.Do(MenuOpened{})
	is("switched on elsewhere", AutostartStatus{Known: true, On: true})
	entry.change(true, errors.New("the disk is full"))
	r.Do(SetAutostart{On: false})
	is("not switched off", AutostartStatus{Known: true, On: true, Problem: "the disk is full"})
	r.until(t, "said so", func(s Snapshot) bool { return s.Notice.Text == "Not changed: the disk is full" })
}

func TestAutostartWithoutASystemForIt(t *testing.T) {
	r := newRig(t, nil)
	r.Do(SetAutostart{On: true})
	r.Do(CopyBaseURL{})
	if s := r.until(t, "the next action is done", func(s Snapshot) bool { return s.Notice.N > 0 }); s.Autostart.Known {
		t.Errorf("%+v", s.Autostart)
	}
}

// fakeRecorder hands out what tells that a request was recorded.
type fakeRecorder struct {
	armed    chan func(string, error)
	disarmed chan struct{}
}

func (r fakeRecorder) Arm(done func(string, error)) { r.armed <- done }
func (r fakeRecorder) Disarm()                      { r.disarmed <- struct{}{} }

func (r fakeRecorder) Wrap(next http.Handler) http.Handler            { return next }
func (r fakeRecorder) Events(context.Context) func(chat.Event, error) { return nil }

func TestRecordNext(t *testing.T) {
	recorder := fakeRecorder{make(chan func(string, error), 4), make(chan struct{}, 4)}
	r := newRig(t, func(c *Config) { c.Recorder = recorder })
	is := func(what string, want RecordingStatus) {
		t.Helper()
		r.until(t, what, func(s Snapshot) bool { return s.Recording == want })
	}
	r.Do(RecordNext{})
	r.Do(RecordNext{})
	is("armed", RecordingStatus{Waiting: true})
	(<-recorder.armed)("/state/recordings/x.json", nil)
	is("recorded", RecordingStatus{N: 1, Path: "/state/recordings/x.json"})
	r.Do(CancelRecord{}) // of none
	r.Do(RecordNext{})
	is("armed again", RecordingStatus{Waiting: true, N: 1, Path: "/state/recordings/x.json"})
	(<-recorder.armed)("", errors.New("the disk is full"))
	is("not recorded", RecordingStatus{N: 2, Problem: "the disk is full"})
	r.Do(RecordNext{})
	r.Do(CancelRecord{})
	<-recorder.disarmed
	is("cancelled", RecordingStatus{N: 2, Problem: "the disk is full"})
	if len(recorder.armed) != 1 {
		t.Errorf("%d recordings were begun besides; want one", len(recorder.armed))
	}
}

func TestOpenLogFile(t *testing.T) {
	opened := make(chan string, 1)
	open := func(_ context.Context, path string) error {
		opened <- path
		return errors.New("no program for text")
	}
	r := newRig(t, func(c *Config) { c.LogFile, c.OpenFile = "/state/log", open })
	r.Do(OpenLogFile{})
	s := r.until(t, "said that it was not opened", func(s Snapshot) bool { return s.Notice.N > 0 })
	if path := <-opened; path != "/state/log" || s.LogFile != path || !strings.Contains(s.Notice.Text, path) {
		t.Errorf("%s, %+v", path, s.Notice)
	}
	for name, change := range map[string]func(*Config){
		"no desktop":  func(c *Config) { c.LogFile = "/state/log" },
		"no log file": func(c *Config) {},
	} {
		r := newRig(t, change)
		r.Do(OpenLogFile{})
		if s := r.until(t, name, func(s Snapshot) bool { return s.Notice.N > 0 }); !strings.Contains(s.Notice.Text, "log") {
			t.Errorf("%s: %q", name, s.Notice.Text)
		}
	}
}
