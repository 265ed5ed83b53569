package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		writeForEver(path)
	}
	goleak.VerifyTestMain(m)
}

// book is a ledger in a folder of its own, with its log.
type book struct {
	*Ledger
	path string
	log  *lines
}

// lines is a log that may be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func open(t *testing.T, path string, opts Options) *book {
	t.Helper()
	b := &book{path: path, log: &lines{}}
	opts.Logger = slog.New(slog.NewTextHandler(b.log, nil))
	b.Ledger = Open(path, opts)
	t.Cleanup(func() { b.Close() })
	return b
}

func fresh(t *testing.T) *book {
	return open(t, filepath.Join(t.TempDir(), "state", "ledger.db"), Options{})
}

func at(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 30, 0, 0, time.Local) }

func TestRecentGivesBackWhatWasAdded(t *testing.T) {
	b := fresh(t)
	want := []Entry{
		{At: at(2, 9), Editor: "codex", Model: "gpt-5.5", Dialect: "responses", Backend: "Cursor protocol", Outcome: OK, Input: 10, Output: 20,
			CacheRead: 30, CacheWrite: 40, Reasoning: 5, Cost: "0.000000000001", Context: 84250, Window: 200000, Took: 1500 * time.Millisecond},
		{At: at(2, 8), Outcome: "cursor_login_required"},
		{At: at(2, 7), Outcome: OK, Paused: true, Cost: "0.00"},
	}
	for i := range want {
		b.Add(want[len(want)-1-i])
	}
	got, err := b.Recent(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, _ := b.Recent(t.Context(), 1); len(got) != 1 || got[0].Editor != "codex" {
		t.Errorf("the last one is %+v", got)
	}
}

func TestSum(t *testing.T) {
	b := fresh(t)
	for _, e := range []Entry{
		{At: at(1, 23), Editor: "codex", Model: "a", Outcome: OK, Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1, Cost: "0.1", Took: time.Second},
		{At: at(2, 0), Editor: "codex", Model: "b", Outcome: OK, Input: 1, Cost: "0.2", Took: time.Second},
		{At: at(2, 23), Editor: "", Model: "b", Outcome: OK, Input: 1, Cost: "9000000.000000000001"},
		{At: at(3, 1), Editor: "", Model: "b", Outcome: OK},
		{At: at(3, 2), Editor: "", Model: "b", Outcome: OK, Paused: true},
		{At: at(3, 3), Editor: "pi", Model: "", Outcome: Cancelled},
		{At: at(3, 4), Editor: "pi", Model: "a", Outcome: "bad gateway"},
		{At: at(3, 5), Editor: "pi", Model: "a", Outcome: Refused + "_runs_hour"},
	} {
		b.Add(e)
	}
	short := func(rows []Row) string {
		var text []string
		for _, r := range append(rows, Total(rows)) {
			text = append(text, fmt.Sprintf("%s: %d (%d failed, %d cancelled, %d refused) %d+%d+%d+%d %s, %d unpriced, %s",
				r.Key, r.Requests, r.Failed, r.Cancelled, r.Refused, r.Input, r.CacheRead, r.CacheWrite, r.Output, r.Cost, r.Unpriced, r.Took))
		}
		return strings.Join(text, "\n")
	}
	for _, c := range []struct {
		name         string
		by           By
		since, until time.Time
		want         string
	}{
		{"by day", Day, time.Time{}, time.Time{}, `
2026-11-01: 1 (0 failed, 0 cancelled, 0 refused) 1+3+4+2 $0.10, 0 unpriced, 1s
2026-11-02: 2 (0 failed, 0 cancelled, 0 refused) 2+0+0+0 $9000000.200000000001, 0 unpriced, 1s
2026-11-03: 5 (1 failed, 1 cancelled, 1 refused) 0+0+0+0 $0.00, 1 unpriced, 0s
: 8 (1 failed, 1 cancelled, 1 refused) 3+3+4+2 $9000000.300000000001, 1 unpriced, 2s`},
		{"by model", Model, time.Time{}, time.Time{}, `
b: 4 (0 failed, 0 cancelled, 0 refused) 2+0+0+0 $9000000.200000000001, 1 unpriced, 1s
a: 3 (1 failed, 0 cancelled, 1 refused) 1+3+4+2 $0.10, 0 unpriced, 1s
: 1 (0 failed, 1 cancelled, 0 refused) 0+0+0+0 $0.00, 0 unpriced, 0s
: 8 (1 failed, 1 cancelled, 1 refused) 3+3+4+2 $9000000.300000000001, 1 unpriced, 2s`},
		{"a day by editor", Editor, at(2, 0), at(2, 23), `
codex: 1 (0 failed, 0 cancelled, 0 refused) 1+0+0+0 $0.20, 0 unpriced, 1s
: 1 (0 failed, 0 cancelled, 0 refused) 1+0+0+0 $0.20, 0 unpriced, 1s`},
		{"nothing", Editor, at(20, 0), time.Time{}, `
: 0 (0 failed, 0 cancelled, 0 refused) 0+0+0+0 $0.00, 0 unpriced, 0s`},
	} {
		rows, err := b.Sum(t.Context(), c.by, c.since, c.until)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), short(rows)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
	if _, err := b.Sum(t.Context(), "colour", time.Time{}, time.Time{}); err == nil {
		t.Error("a sum by colour")
	}
	huge := fresh(t)
	for range 3 {
		huge.Add(Entry{At: at(1, 1), Outcome: OK, Input: 1 << 62, Cost: "9000000"})
	}
	rows, err := huge.Sum(t.Context(), Model, time.Time{}, time.Time{})
	if err != nil || rows[0].Cost.Pico() != 1<<63-1 {
		t.Errorf("what is out of reach: %+v, %v", rows, err)
	}
}

// TestDaysAreThoseOfTheZone: midnight is that of the user's clock, also where
// zones differ by three quarters of an hour.
func TestDaysAreThoseOfTheZone(t *testing.T) {
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	time.Local = time.FixedZone("Kathmandu", (5*60+45)*60)
	b := fresh(t)
	b.Add(Entry{At: time.Date(2026, 11, 1, 18, 14, 59, 0, time.UTC), Outcome: OK})
	b.Add(Entry{At: time.Date(2026, 11, 1, 18, 15, 0, 0, time.UTC), Outcome: OK})
	rows, err := b.Sum(t.Context(), Day, time.Time{}, time.Time{})
	if err != nil || len(rows) != 2 || rows[0].Key != "2026-11-01" || rows[1].Key != "2026-11-02" {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestLoad(t *testing.T) {
	b := fresh(t)
	for _, e := range []Entry{
		{At: at(1, 0), Editor: "codex", Outcome: OK, Cost: "5"},
		{At: at(2, 0), Editor: "codex", Outcome: OK, Cost: "0.1"},
		{At: at(2, 0).Add(time.Second), Editor: "codex", Backend: "agent", Outcome: Cancelled},
		{At: at(2, 0).Add(time.Second), Editor: "codex", Outcome: "editor_switched_off"},
		{At: at(2, 0).Add(time.Second), Editor: "codex", Outcome: Cancelled}, // while it was sent
		{At: at(2, 0).Add(2 * time.Second), Editor: "codex", Outcome: Refused + "_x"},
		{At: at(2, 0).Add(12 * time.Second), Editor: "", Outcome: OK, Cost: "0.3"},
	} {
		b.Add(e)
	}
	loads, err := b.Load(t.Context(), at(2, 0), 10*time.Second, Refused)
	got := fmt.Sprint(loads)
	want := fmt.Sprint([]Load{{at(2, 0), "codex", 2, loads[0].Cost}, {at(2, 0).Add(10 * time.Second), "", 1, loads[1].Cost}})
	if err != nil || got != want || loads[0].Cost.String() != "$0.10" || loads[1].Cost.String() != "$0.30" {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
}

// TestNothingIsOpenedBeforeItIsNeeded: neither the program's start nor a look
// into an empty ledger makes a file.
func TestNothingIsOpenedBeforeItIsNeeded(t *testing.T) {
	b := fresh(t)
	if rows, err := b.Sum(t.Context(), Day, time.Time{}, time.Time{}); rows != nil || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
	if entries, err := b.Recent(t.Context(), 5); entries != nil || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
	b.Close()
	b.Add(Entry{At: at(1, 1)}) // after the end it is dropped
	if _, err := os.Stat(filepath.Dir(b.path)); err == nil {
		t.Error("there is a folder")
	}
}

// TestAnotherProcessReads: the file can be read while it is written, and when
// nobody writes, also where its name means something in an address.
func TestAnotherProcessReads(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "a b%20#?x=1", "led?ger.db"), Options{})
	b.Add(Entry{At: at(1, 1), Outcome: OK, Model: "m"})
	b.await(t.Context())
	for _, when := range []string{"while it is written", "afterwards"} {
		rows, err := OpenReader(b.path).Sum(t.Context(), Model, time.Time{}, time.Time{})
		if err != nil || len(rows) != 1 || rows[0].Key != "m" {
			t.Errorf("%s: %+v, %v", when, rows, err)
		}
		b.Close()
	}
	if files, _ := os.ReadDir(filepath.Dir(b.path)); len(files) != 1 {
		t.Errorf("there are %v", files)
	}
}

func TestTwoWriters(t *testing.T) {
	a := fresh(t)
	b := open(t, a.path, Options{})
	for i := range 200 {
		a.Add(Entry{At: at(1, 1), Editor: "a", Outcome: OK, Input: int64(i)})
		b.Add(Entry{At: at(1, 1), Editor: "b", Outcome: OK, Input: int64(i)})
	}
	a.Close()
	b.Close()
	rows, err := OpenReader(a.path).Sum(t.Context(), Editor, time.Time{}, time.Time{})
	if total := Total(rows); err != nil || len(rows) != 2 || total.Requests != 400 {
		t.Errorf("%+v, %v\n%s%s", rows, err, a.log, b.log)
	}
}

// TestNamesAreBounded: whatever a caller hands over, the file takes no essays.
func TestNamesAreBounded(t *testing.T) {
	b := fresh(t)
	b.Add(Entry{At: at(1, 1), Model: strings.Repeat("é", 5000), Editor: "\xff\x00x", Outcome: OK, Input: -5})
	got, err := b.Recent(t.Context(), 1)
	if err != nil || len(got) != 1 || len(got[0].Model) > maxName || got[0].Editor != "\x00x" || got[0].Input != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPruneByAge(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "ledger.db"), Options{MaxAge: 24 * time.Hour})
	for i := range 3 * pruneStep {
		b.Add(Entry{At: time.Now().Add(-25 * time.Hour), Outcome: OK, Input: int64(i)})
	}
	b.Close()
	b = open(t, b.path, Options{MaxAge: 24 * time.Hour}) // it looks with the first entry
	b.Add(Entry{At: time.Now().Add(-23 * time.Hour), Outcome: OK, Input: 7})
	b.await(t.Context())
	rows, err := b.Sum(t.Context(), Model, time.Time{}, time.Time{})
	if err != nil || len(rows) != 1 || rows[0].Requests != 1 || rows[0].Input != 7 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestPruneBySize(t *testing.T) {
	const limit = 2 << 20
	b := open(t, filepath.Join(t.TempDir(), "ledger.db"), Options{MaxBytes: limit})
	for i := range 3 * pruneAfter {
		if i%pruneAfter == pruneAfter-1 {
			b.await(t.Context())
		}
		b.Add(Entry{At: time.Now().Add(time.Duration(i) * time.Millisecond), Model: "claude-opus-5-5", Backend: "Cursor protocol", Outcome: OK, Input: int64(i)})
	}
	b.await(t.Context())
	newest, err := b.Recent(t.Context(), 1)
	if err != nil || len(newest) != 1 || newest[0].Input != 3*pruneAfter-1 {
		t.Errorf("the newest is %+v, %v", newest, err)
	}
	b.Close()
	info, err := os.Stat(b.path)
	if err != nil || info.Size() > limit+limit/2 {
		t.Errorf("it has %d bytes, %v", info.Size(), err)
	}
	if rows, err := OpenReader(b.path).Sum(t.Context(), Model, time.Time{}, time.Time{}); err != nil || rows[0].Requests < pruneStep {
		t.Errorf("left are %+v, %v", rows, err)
	}
	if b.Dropped() != 0 {
		t.Errorf("%d were dropped", b.Dropped())
	}
}

// TestRefusedRequestsGoFirst: who hammers at a limit pushes nothing out.
func TestRefusedRequestsGoFirst(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "ledger.db"), Options{MaxBytes: 1 << 20})
	b.Add(Entry{At: time.Now().Add(-time.Hour), Editor: "used", Outcome: OK})
	for i := range 4 * pruneAfter {
		outcome := Refused + "_runs_hour"
		if i%2 == 0 {
			outcome = "editor_switched_off"
		}
		b.Add(Entry{At: time.Now(), Editor: "hammering", Model: "claude-opus-5-5", Dialect: "messages", Outcome: outcome})
	}
	b.await(t.Context())
	b.Add(Entry{At: time.Now(), Outcome: OK})
	b.await(t.Context())
	if rows, err := b.Sum(t.Context(), Editor, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Minute)); err != nil || len(rows) != 1 {
		t.Errorf("what was used is gone: %+v, %v", rows, err)
	}
}

// TestSchemaOfANewerProgramIsLeftAlone: it is neither written nor moved.
func TestSchemaOfANewerProgramIsLeftAlone(t *testing.T) {
	b := fresh(t)
	b.Add(Entry{At: at(1, 1), Outcome: OK})
	b.Close()
	change(t, b.path, `PRAGMA user_version = 99`)
	newer := open(t, b.path, Options{})
	newer.Add(Entry{At: at(1, 1), Outcome: OK})
	newer.Close()
	if !strings.Contains(newer.log.String(), "newer cursortray") || newer.Dropped() != 1 {
		t.Errorf("%d dropped; the log says %s", newer.Dropped(), newer.log)
	}
	if _, err := newer.Recent(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "newer cursortray") {
		t.Errorf("reading it: %v", err)
	}
	if broken, _ := filepath.Glob(b.path + ".broken*"); len(broken) > 0 {
		t.Errorf("it was moved: %v", broken)
	}
}

// change does something to a closed ledger that this program does not do.
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}
