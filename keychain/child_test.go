package keychain

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary runs itself as a child that can be killed.
const childVariable = "KEYCHAIN_TEST_CHILD"

// order tells a child what to do with the secret "login" of its store.
type order struct {
	Dir     string // of a File store
	Service string // of a System store
	Do      string // write, read, set, delete, or what moreOrders knows
	Serial  int    // first value of write, the value of set
	Last    int    // last value of write
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		os.Exit(child(text))
	}
	goleak.VerifyTestMain(m)
}

func child(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	s := File(o.Dir)
	if o.Service != "" {
		s = System(o.Service)
	}
	ctx, err := context.Background(), error(nil)
	switch o.Do {
	case "write": // the values from Serial to Last, telling each that is stored
		for i := o.Serial; i <= o.Last && err == nil; i++ {
			if err = s.Set(ctx, "login", serialValue(i)); err == nil {
				fmt.Println(i)
			}
		}
	case "set":
		err = s.Set(ctx, "login", serialValue(o.Serial))
	case "delete":
		err = s.Delete(ctx, "login")
	case "read":
		var value []byte
		if value, err = s.Get(ctx, "login"); err == nil {
			fmt.Println(serialOf(value))
		}
	default:
		err = moreOrders(ctx, s, o.Do)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		for status, known := range []error{0: nil, 2: ErrNotFound, 3: ErrLocked, 4: ErrUnavailable, 5: ErrCorrupt} {
			if known != nil && errors.Is(err, known) {
				return status
			}
		}
		return 1
	}
	return 0
}

// serialValue is the value number i: of one item or several, printable or not.
func serialValue(i int) []byte {
	size := []int{50, 1900, 2500, 7000}[i%4]
	last := []string{"", "\n"}[i/4%2]
	return append(long(strconv.Itoa(i)+":", size), last...)
}

// serialOf returns the number of a value, -1 if it is none of ours.
func serialOf(value []byte) int {
	digits, _, _ := strings.Cut(string(value), ":")
	i, err := strconv.Atoi(digits)
	if err != nil || string(serialValue(i)) != string(value) {
		return -1
	}
	return i
}

func (o order) command(ctx context.Context, environ ...string) *exec.Cmd {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	// The race detector lets a program linger for a second by default.
	cmd.Env = append(append(os.Environ(), environ...), "GORACE=atexit_sleep_ms=0", childVariable+"="+string(text))
	return cmd
}

// run runs the order and returns what it printed and its error.
func (o order) run(t *testing.T, environ ...string) (string, error) {
	t.Helper()
	cmd := o.command(t.Context(), environ...)
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		known := map[int]error{2: ErrNotFound, 3: ErrLocked, 4: ErrUnavailable, 5: ErrCorrupt}[exit.ExitCode()]
		err = fmt.Errorf("%w: %w: %s", known, err, complaint.String())
	}
	return strings.TrimSpace(out.String()), err
}

// runKilled starts the order, kills it with SIGKILL a moment after it has
// stored a first value, and returns the last value it told of.
func (o order) runKilled(t *testing.T, environ ...string) int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := o.command(ctx, environ...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := o.Serial - 1
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		if last == o.Serial {
			kill := time.AfterFunc(rand.N(60*time.Millisecond), cancel)
			defer kill.Stop()
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended before it was killed")
	}
	return last
}

// killRepeatedly kills writers of the order's store and checks that the value
// is always the last one told of or the one that was being written.
func killRepeatedly(t *testing.T, o order, rounds int, environ ...string) {
	t.Helper()
	interrupted := 0
	for range rounds {
		o.Do, o.Last = "write", o.Serial+1_000_000
		last := o.runKilled(t, environ...)
		o.Do = "read"
		text, err := o.run(t, environ...)
		if err != nil {
			t.Fatalf("after the kill: %v", err)
		}
		got, err := strconv.Atoi(text)
		if err != nil || got != last && got != last+1 {
			t.Fatalf("value %s is stored, the writer was killed after value %d", text, last)
		}
		if got > last {
			interrupted++
		}
		o.Serial = got + 1
	}
	t.Logf("%d values written, %d of %d kills hit between storing and telling", o.Serial, interrupted, rounds)
}

func TestKillingAWriterOfTheFileStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	o := order{Dir: dir}
	killRepeatedly(t, o, 30)
	o.Do = "delete"
	if _, err := o.run(t); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		t.Errorf("after Delete the folder holds %v, %v", entries, err)
	}
}

func TestProcessesShareAFileStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	s := File(dir)
	if err := s.Set(t.Context(), "login", serialValue(0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make(chan error, 3)
	for i := range cap(results) {
		o := order{Dir: dir, Do: "write", Serial: i * 1000, Last: i*1000 + 60}
		go func() { results <- o.command(ctx).Run() }()
	}
	for running := cap(results); running > 0; {
		select {
		case err := <-results:
			running--
			if err != nil {
				t.Errorf("a writer failed: %v", err)
			}
		default:
			value, err := s.Get(t.Context(), "login")
			if err != nil || serialOf(value) < 0 {
				t.Fatalf("read %s, %v", brief(value), err)
			}
		}
	}
}
