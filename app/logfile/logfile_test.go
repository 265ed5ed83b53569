package logfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// TestMain is a program that crashes, too.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOGFILE_TEST_CRASH"); path != "" {
		f, err := Open(path, 20, 2)
		if err == nil {
			err = f.CatchCrashes()
		}
		fmt.Fprintln(f, "a line")
		fmt.Fprintln(f, "a line that puts the first file aside")
		panic(fmt.Sprint("a crash of the test; before it: ", err))
	}
	goleak.VerifyTestMain(m)
}

func logAt(t *testing.T, size int64, keep int) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "x.log")
	f, err := Open(path, size, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// SE-2: the size of the log is bounded, and nobody else reads it.
func TestSE2_LogIsBoundedAndPrivate(t *testing.T) {
	f, path := logAt(t, 1000, 3)
	if err := os.Chmod(path, 0o644); err != nil { // from an older time
		t.Fatal(err)
	}
	f.Close()
	f, err := Open(path, 1000, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for n := range 200 {
				fmt.Fprintf(f, "writer %d line %03d ........................\n", w, n)
			}
		})
	}
	writers.Wait()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 4 {
		t.Errorf("%d files, %v; want 4", len(entries), err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.Size() > 1000 || info.Size() < 900 && entry.Name() != "x.log" || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
			t.Errorf("%s: %d bytes, %v, %v", entry.Name(), info.Size(), info.Mode(), err)
		}
		text := read(t, filepath.Join(filepath.Dir(path), entry.Name()))
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "writer ") || !strings.HasSuffix(line, ".\n") || len(line) != 43 {
				t.Fatalf("a line was torn: %q", line)
			}
		}
	}
}

func TestALineLongerThanTheFile(t *testing.T) {
	f, path := logAt(t, 10, 1)
	long := strings.Repeat("x", 50) + "\n"
	for _, line := range []string{"a\n", long, "b\n"} {
		if n, err := f.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if got := read(t, path+".1"); got != long {
		t.Errorf("%q", got)
	}
	if got := read(t, path); got != "b\n" {
		t.Errorf("%q", got)
	}
}

func TestOpenGoesOn(t *testing.T) {
	f, path := logAt(t, 100, 1)
	io.WriteString(f, "first\n")
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Write([]byte("late\n")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	again, err := Open(path, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	io.WriteString(again, "second\n")
	if got := read(t, path); got != "first\nsecond\n" {
		t.Errorf("%q", got)
	}
}

func TestTail(t *testing.T) {
	f, path := logAt(t, 20, 3) // two lines of ten
	var out bytes.Buffer
	if err := Tail(path+"x", 3, &out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no log: %v", err)
	}
	for n := range 7 {
		fmt.Fprintf(f, "line %04d\n", n)
	}
	for lines, want := range map[int]string{
		0: "", 1: "line 0006\n", 2: "line 0005\nline 0006\n", 4: "line 0003\nline 0004\nline 0005\nline 0006\n",
		100: "line 0000\nline 0001\nline 0002\nline 0003\nline 0004\nline 0005\nline 0006\n",
	} {
		out.Reset()
		if err := Tail(path, lines, &out); err != nil || out.String() != want {
			t.Errorf("%d lines: %q, %v", lines, out.String(), err)
		}
	}
}

// What is followed is seen once, in order and whole, also when several files
// were put aside between two looks.
func TestFollowOverChangesOfFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.log")
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- Follow(ctx, path, 10, &out) }()
		synctest.Wait() // before there is a log
		f, err := Open(path, 50, 4)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for n := range 60 {
			line := fmt.Sprintf("line %04d\n", n)
			want += line
			io.WriteString(f, line)
			// In uneven steps, of up to three files.
			if n%13 == 0 || n%5 == 2 {
				pause(ctx, 2*followPoll)
			}
		}
		pause(ctx, 2*followPoll)
		cancel()
		if err := <-ended; err != nil || out.String() != want {
			t.Errorf("%v; got\n%s", err, out.String())
		}
		f.Close()
	})
}

func TestFollowALogThatIsEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, path := logAt(t, 30, 0)
		ctx, cancel := context.WithCancel(t.Context())
		io.WriteString(f, "before\n")
		var out bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- Follow(ctx, path, 0, &out) }()
		want := ""
		for n := range 9 {
			line := fmt.Sprintf("line %04d\n", n)
			want += line
			pause(ctx, 2*followPoll)
			io.WriteString(f, line)
		}
		pause(ctx, 2*followPoll)
		cancel()
		if err := <-ended; err != nil || out.String() != want {
			t.Errorf("%v; got\n%s", err, out.String())
		}
	})
}

func TestCrashesAreInTheLog(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.log")
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "LOGFILE_TEST_CRASH="+path)
	if err := cmd.Run(); err == nil {
		t.Fatal("the program did not crash")
	}
	if text := read(t, path); !strings.Contains(text, "a crash of the test; before it: <nil>") || !strings.Contains(text, "goroutine ") {
		t.Errorf("the log says\n%s", text)
	}
}

// pause lets the bubble's time pass.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Who moves or removes the log, as other rotations do, gets a new one.
func TestLogThatIsTakenAway(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	path := filepath.Join(folder, "log")
	f, err := Open(path, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(line string) error {
		_, err := f.Write([]byte(line))
		return err
	}
	holds := func(path, want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), got, err, want)
		}
	}
	if err := errors.Join(write("one\n"), os.Rename(path, path+".moved"), write("two\n")); err != nil {
		t.Fatal(err)
	}
	holds(path+".moved", "one\n")
	holds(path, "two\n")
	if err := errors.Join(os.RemoveAll(folder), write("three\n")); err != nil {
		t.Fatal(err)
	}
	holds(path, "three\n")

	// A folder in the way passes.
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700), os.Mkdir(filepath.Join(path, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if write("lost\n") == nil {
		t.Error("it writes into a folder")
	}
	if err := errors.Join(os.RemoveAll(path), write("four\n")); err != nil {
		t.Fatal(err)
	}
	holds(path, "four\n")
}
