package ledger

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// childPath tells the test binary to be a program that writes a ledger until
// it is killed.
const childPath = "LEDGER_TEST_CHILD"

// writeForEver prints the number of the last entry that is in the file.
func writeForEver(path string) {
	l := Open(path, Options{MaxAge: 1 << 62})
	for n := int64(0); ; {
		for range 50 {
			n++
			l.Add(Entry{At: time.UnixMilli(n), Outcome: OK, Input: n, Model: "claude-opus-5-5"})
		}
		l.await(context.Background())
		fmt.Println(n)
	}
}

// TestKilledWhileWriting: after kill -9 at any moment the file opens, and what
// was written is all there, whole and in order.
func TestKilledWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	for round := range 5 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childPath+"="+path)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines, told := bufio.NewScanner(out), int64(0)
		for range 20 + 7*round {
			if !lines.Scan() {
				break
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for ok := true; ok; ok = lines.Scan() {
			if n, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				told = n
			}
		}
		child.Wait()
		if told == 0 {
			t.Fatal("the child wrote nothing")
		}
		b := open(t, path, Options{MaxAge: 1 << 62})
		rows, err := OpenReader(path).Sum(t.Context(), Model, time.Time{}, time.Time{})
		if err != nil || len(rows) != 1 {
			t.Fatalf("%+v, %v", rows, err)
		}
		if n := rows[0].Requests; n < told || rows[0].Input != n*(n+1)/2 {
			t.Errorf("after %d were told to be there, there are %d that add up to %d", told, n, rows[0].Input)
		}
		b.Add(Entry{At: at(1, 1), Model: "after", Outcome: OK})
		if got, err := b.Recent(t.Context(), 1); err != nil || len(got) != 1 || got[0].Model != "after" {
			t.Errorf("going on: %+v, %v\n%s", got, err, b.log)
		}
		b.Close()
		if broken, _ := filepath.Glob(path + ".broken*"); len(broken) > 0 {
			t.Errorf("it was moved aside: %v", broken)
		}
		for _, file := range []string{path, path + "-wal", path + "-shm"} {
			os.Remove(file)
		}
	}
}

// TestDamagedFile: whatever lies where the ledger should, it is moved aside and
// the entry is written.
func TestDamagedFile(t *testing.T) {
	good := fresh(t)
	for i := range 5000 {
		good.Add(Entry{At: at(1, 1), Model: "claude-opus-5-5", Outcome: OK, Input: int64(i)})
	}
	good.Close()
	whole, err := os.ReadFile(good.path)
	if err != nil {
		t.Fatal(err)
	}
	spoiled := bytes.Clone(whole)
	for i := 3 * 4096; i < len(spoiled); i++ {
		spoiled[i] = 0xA5
	}
	for name, make := range map[string]func(path string) error{
		"text":       func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("no ledger\n", 500)), 0o644) },
		"header cut": func(path string) error { return os.WriteFile(path, whole[:50], 0o600) },
		"cut":        func(path string) error { return os.WriteFile(path, whole[:3*4096+100], 0o600) },
		"spoiled":    func(path string) error { return os.WriteFile(path, spoiled, 0o600) },
		"unknown format": func(path string) error {
			unknown := bytes.Clone(whole)
			copy(unknown[44:], "0000")
			return os.WriteFile(path, unknown, 0o600)
		},
		"no table": func(path string) error {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				return err
			}
			change(t, path, `DROP TABLE request`)
			return nil
		},
		"a folder": func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
		"another's database": func(path string) error {
			change(t, path, `CREATE TABLE IF NOT EXISTS music (title TEXT)`)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			if name == "another's database" {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			b := open(t, path, Options{MaxAge: 1 << 62})
			b.Add(Entry{At: at(1, 1), Model: "first", Outcome: OK})
			b.Recent(t.Context(), 1) // finds out, where the writer did not
			b.Add(Entry{At: at(1, 2), Model: "second", Outcome: OK})
			got, err := b.Recent(t.Context(), 1)
			if err != nil || len(got) != 1 || got[0].Model != "second" {
				t.Errorf("%+v, %v\n%s", got, err, b.log)
			}
			if _, err := b.Sum(t.Context(), Model, time.Time{}, time.Time{}); err != nil {
				b.Add(Entry{At: at(1, 3), Model: "third", Outcome: OK})
				if _, err := b.Sum(t.Context(), Model, time.Time{}, time.Time{}); err != nil {
					t.Errorf("it cannot be read: %v", err)
				}
			}
			if _, err := os.Lstat(path + ".broken-1"); err != nil {
				t.Errorf("the old one is gone: %v\n%s", err, b.log)
			}
			if n := strings.Count(b.log.String(), "was damaged"); n != 1 {
				t.Errorf("%d warnings:\n%s", n, b.log)
			}
			b.Close()
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDiskThatFails: entries wait for a folder that cannot be written, as many
// as the queue takes, and Add returns at once.
func TestDiskThatFails(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(blocked, []byte("a file where the folder should be"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, filepath.Join(blocked, "ledger.db"), Options{})
	for range maxQueue + 1000 {
		b.Add(Entry{At: at(1, 1), Outcome: OK})
	}
	b.await(t.Context())
	for range maxQueue {
		b.Add(Entry{At: at(1, 2), Outcome: OK})
	}
	if b.Dropped() < 1000 {
		t.Errorf("%d were dropped", b.Dropped())
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	b.await(t.Context())
	rows, err := b.Sum(t.Context(), Model, time.Time{}, time.Time{})
	if err != nil || len(rows) != 1 || rows[0].Requests != maxQueue {
		t.Errorf("after it was mended: %+v, %v", rows, err)
	}
	b.Close()
	if log := b.log.String(); strings.Count(log, "cannot be written") != 1 || !strings.Contains(log, "dropped=") {
		t.Errorf("the log says:\n%s", log)
	}
}

func FuzzDamagedFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "ledger.db")
	l := Open(path, Options{})
	for range 50 {
		l.Add(Entry{At: at(1, 1), Model: "m", Outcome: OK, Cost: "1.5"})
	}
	l.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(100), []byte{1, 2, 3}, uint16(0))
	f.Add(uint16(0), []byte("SQLite"), uint16(4096))
	f.Add(uint16(43), []byte("00000"), uint16(4040)) // a format that SQLite does not know
	f.Fuzz(func(t *testing.T, place uint16, bytes []byte, cut uint16) {
		file := filepath.Join(t.TempDir(), "ledger.db")
		data := append([]byte{}, whole...)
		copy(data[min(int(place), len(data)):], bytes)
		data = data[:max(0, len(data)-int(cut))]
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		b := Open(file, Options{MaxAge: 1 << 62})
		defer b.Close()
		for range 3 { // the first may find out, the second mend
			b.Add(Entry{At: time.Now(), Model: "new", Outcome: OK})
			b.Sum(t.Context(), Model, time.Time{}, time.Time{})
			b.Recent(t.Context(), 10)
		}
		if got, err := b.Recent(t.Context(), 1); err != nil && !strings.Contains(err.Error(), "newer") {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
