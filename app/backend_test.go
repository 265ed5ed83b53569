package app

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"cursortray/proxy/choice"
)

// fakeChooser chooses what it is told.
type fakeChooser struct {
	mu  sync.Mutex
	now choice.Choice
}

func (c *fakeChooser) Now() choice.Choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeChooser) Fix(setting string) {
	c.choose(choice.Choice{Setting: setting, Name: "the " + setting, Reason: "set by the user"})
}

func (c *fakeChooser) choose(now choice.Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func TestChoiceIsShownAndKept(t *testing.T) {
	chooser := &fakeChooser{now: choice.Choice{Setting: "auto", Name: "A"}}
	saved := make(chan string, 8)
	var fail atomic.Bool
	r := newRig(t, func(c *Config) {
		c.Chooser = chooser
		c.SaveBackend = func(setting string) error {
			saved <- setting
			if fail.Load() {
				return errors.New("the disk is full")
			}
			return nil
		}
	})
	if b := r.Snapshot().Backend; b.Name != "A" || b.Choice != "auto" || b.Fixed {
		t.Errorf("at first %+v", b)
	}
	chooser.choose(choice.Choice{Setting: "auto", Name: "B", Reason: "A is out"})
	r.Do(Recheck{})
	s := r.until(t, "the choice is shown", func(s Snapshot) bool { return s.Backend.Name == "B" })
	if h := s.Health(); h.Backend != "B" || h.Choice != "auto" || h.Reason != "A is out" {
		t.Errorf("health %+v", h)
	}
	r.Do(ChooseBackend{Setting: "cli"})
	r.until(t, "the user's choice is shown", func(s Snapshot) bool {
		return s.Backend.Name == "the cli" && s.Backend.Choice == "cli" && s.Backend.Reason == "set by the user"
	})
	if got := <-saved; got != "cli" {
		t.Errorf("saved %q", got)
	}
	fail.Store(true)
	r.Do(ChooseBackend{Setting: "agent"})
	r.until(t, "the failure is told", func(s Snapshot) bool {
		return s.Backend.Choice == "agent" && s.Notice.Text == "The choice holds until cursortray ends: it was not saved"
	})
}

func TestNothingToChoose(t *testing.T) {
	chooser := &fakeChooser{now: choice.Choice{Setting: "demo", Name: "simulated Cursor"}}
	r := newRig(t, func(c *Config) { c.Chooser = chooser })
	r.in(t, Running)
	r.Do(ChooseBackend{Setting: "cli"})
	r.Do(StopProxy{})
	r.in(t, Stopped)
	if b := r.Snapshot().Backend; b.Choice != "demo" || !b.Fixed {
		t.Errorf("the demo's back-end is %+v", b)
	}
}
