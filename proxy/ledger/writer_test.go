package ledger

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestManyEntriesDoNotWaitForMore: few are gathered for a while, so that the
// disk has peace; many are not, so that the writer has no hill to climb at once.
func TestManyEntriesDoNotWaitForMore(t *testing.T) {
	for entries, wait := range map[int]time.Duration{1: gatherTime, gatherMost - 1: gatherTime, gatherMost: 0, 5 * gatherMost: 0} {
		synctest.Test(t, func(t *testing.T) {
			l := Open(filepath.Join(t.TempDir(), "ledger.db"), Options{})
			l.began = true // the test is the writer
			for range entries {
				l.Add(Entry{Outcome: OK})
			}
			begin := time.Now()
			l.gather(gatherTime, l.many)
			if took := time.Since(begin); took != wait {
				t.Errorf("%d entries waited %v, want %v", entries, took, wait)
			}
			if batch, _ := l.take(nil); len(batch) != entries {
				t.Errorf("%d of %d are left", len(batch), entries)
			}
		})
	}
}

// TestFailuresAreNotTriedAgainSooner: however many wait.
func TestFailuresAreNotTriedAgainSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Open(filepath.Join(t.TempDir(), "ledger.db"), Options{})
		l.began = true
		for range gatherMost {
			l.Add(Entry{Outcome: OK})
		}
		begin := time.Now()
		if l.gather(retryTime, nil); time.Since(begin) != retryTime {
			t.Errorf("it waited %v", time.Since(begin))
		}
	})
}

// TestAFileWithoutTheIndexGetsIt: one of an older program is used as it is.
func TestAFileWithoutTheIndexGetsIt(t *testing.T) {
	b := fresh(t)
	b.Add(Entry{At: at(1, 1), Outcome: OK, Model: "old"})
	b.Close()
	change(t, b.path, `DROP INDEX request_least`)
	again := open(t, b.path, Options{})
	again.Add(Entry{At: at(1, 2), Outcome: OK, Model: "new"})
	if got, err := again.Recent(t.Context(), 5); err != nil || len(got) != 2 {
		t.Errorf("%+v, %v\n%s", got, err, again.log)
	}
	again.Close()
	change(t, b.path, `DROP INDEX request_least`) // fails where there is none
}
