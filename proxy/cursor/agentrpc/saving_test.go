package agentrpc

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
)

// Files are written when clients rest, and if they do not, after a while all
// the same.
func TestSavingWaitsForARest(t *testing.T) {
	for name, c := range map[string]struct {
		every    time.Duration // between the ends of turns
		turns    int
		min, max time.Duration // when there is a file
	}{
		"one turn":     {time.Second, 1, 990 * time.Millisecond, 1100 * time.Millisecond},
		"a few turns":  {900 * time.Millisecond, 4, 3600 * time.Millisecond, 3800 * time.Millisecond},
		"slow turns":   {1200 * time.Millisecond, 10, 990 * time.Millisecond, 1300 * time.Millisecond},
		"without rest": {900 * time.Millisecond, 100, 10 * time.Second, 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := &snapshots{dir: dir, life: time.Hour, delay: time.Second, logger: slog.New(slog.DiscardHandler)}
				begun := time.Now()
				for i := 0; len(files(t, dir)) == 0 && time.Since(begun) < time.Minute; i++ {
					if i < c.turns {
						c := newConversation("")
						c.state, c.turns, c.used = []byte{}, 1, time.Now()
						c.print = fingerprints([]chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: c.id}}}})[1]
						s.later(c)
					}
					time.Sleep(c.every)
					synctest.Wait()
				}
				if took := time.Since(begun); took < c.min || took > c.max+c.every {
					t.Errorf("the first file came after %v", took)
				}
				s.close()
			})
		})
	}
}
