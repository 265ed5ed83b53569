//go:build e2e && linux

package keychain

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// moreOrders are the orders to a child that only these tests give.
func moreOrders(ctx context.Context, s Store, do string) error {
	switch do {
	case "sizes":
		return storeSizes(ctx, s)
	case "wait":
		return readTwice(ctx, s)
	case "unlaunched":
		noBus := func() (bool, error) { return reachThrough(func(string) string { return "" }, "/nonexistent") }
		_, err := (&system{items: native{testService}, reach: noBus}).Get(ctx, "login")
		return err
	}
	return errors.New("unknown order")
}

// storeSizes stores, reads and times values of several sizes.
func storeSizes(ctx context.Context, s Store) error {
	for _, value := range [][]byte{long("x", 50), long("x", 2000), long("x", 4000), long("x", 64<<10), []byte("a\x00ü\n"), {}} {
		start := time.Now()
		if err := s.Set(ctx, "login", value); err != nil {
			return err
		}
		stored := time.Now()
		got, err := s.Get(ctx, "login")
		if err != nil {
			return err
		}
		if !bytes.Equal(got, value) {
			return fmt.Errorf("%d bytes came back as %d other ones", len(value), len(got))
		}
		fmt.Printf("%d bytes: set %v, get %v\n", len(value), stored.Sub(start), time.Since(stored))
	}
	return nil
}

// readTwice reads under a time limit of 2 s and once more after a line on
// standard input, and prints both results.
func readTwice(ctx context.Context, s Store) error {
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	start := time.Now()
	_, err := s.Get(limited, "login")
	took := time.Since(start)
	fmt.Println(errors.Is(err, ErrLocked), errors.Is(err, ErrUnavailable), took > 1900*time.Millisecond && took < 10*time.Second)
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	value, err := s.Get(ctx, "login")
	if err == nil {
		fmt.Println(serialOf(value))
	}
	return err
}

func TestKeyringUnlocked(t *testing.T) {
	s := newSession(t)
	s.startKeyring(true)
	s.want("read", 0, ErrNotFound)
	out, err := order{Service: testService, Do: "sizes"}.run(t, s.environ...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out)
	for serial := range 8 {
		s.want("set", serial, nil)
		s.want("read", serial, nil)
	}
	if !strings.Contains(s.search(), "login") {
		t.Error("secret-tool does not find the secret either")
	}
	s.want("delete", 0, nil)
	s.want("read", 0, ErrNotFound)
	if found := s.search(); found != "" {
		t.Errorf("after Delete secret-tool finds\n%s", found)
	}
}

func TestKeyringLocked(t *testing.T) {
	s := newSession(t)
	s.startKeyring(true)
	s.want("set", 3, nil)
	stop(s.keyring)
	s.startKeyring(false)
	for _, do := range []string{"read", "set", "delete"} {
		s.want(do, 5, ErrLocked)
	}
	stop(s.keyring)
	s.startKeyring(true)
	s.want("read", 3, nil)
}

func TestKeyringAbsent(t *testing.T) {
	s := newSession(t)
	for _, do := range []string{"read", "set", "delete"} {
		s.want(do, 0, ErrUnavailable)
	}
	stop(s.bus)
	s.want("read", 0, ErrUnavailable)
}

func TestNoBusIsLaunched(t *testing.T) {
	dir := t.TempDir()
	launched := filepath.Join(dir, "launched")
	script := "#!/bin/sh\n: > '" + launched + "'\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := order{Service: testService, Do: "unlaunched"}.run(t, "DBUS_SESSION_BUS_ADDRESS=", "PATH="+dir+":"+os.Getenv("PATH"))
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("err = %v", err)
	}
	if _, err := os.Stat(launched); err == nil {
		t.Error("dbus-launch was started")
	}
}

// waiting is a child that runs readTwice.
type waiting struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    *os.File
	lines *bufio.Reader
}

func startWaiting(t *testing.T, environ []string) *waiting {
	t.Helper()
	cmd := order{Service: testService, Do: "wait"}.command(t.Context(), environ...)
	childIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer childIn.Close()
	cmd.Stdin = childIn
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); stop(cmd) })
	return &waiting{t, cmd, in, bufio.NewReader(out)}
}

func (w *waiting) wantLine(want string) {
	w.t.Helper()
	line, err := w.lines.ReadString('\n')
	if strings.TrimSpace(line) != want {
		w.t.Fatalf("the child says %q (%v), want %q", line, err, want)
	}
}

func (w *waiting) goOn() { fmt.Fprintln(w.in) }

func TestKC2_KeyringThatStopsAnswering(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.startKeyring(true)
	s.want("set", 7, nil)
	if err := s.keyring.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w := startWaiting(t, s.environ)
	w.wantLine("false true true")
	if err := s.keyring.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.goOn()
	w.wantLine("7")
}

func TestKC2_BusThatNeverAnswers(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	stop(s.bus)
	path := filepath.Join(s.dir, "silent")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s.environ = append(s.environ, "DBUS_SESSION_BUS_ADDRESS=unix:path="+path)
	start := time.Now()
	s.want("read", 0, ErrUnavailable)
	if took := time.Since(start); took < reachLimit || took > 3*reachLimit {
		t.Errorf("it took %v", took)
	}
}

func TestKC2_PromptThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.startKeyring(true)
	s.want("set", 7, nil)
	stop(s.keyring)
	s.startKeyring(false)
	prompter := s.startPrompter()
	w := startWaiting(t, s.environ)
	<-prompter.asked
	w.wantLine("true false true")
	// The bus dies under the open prompt: go-keyring panics in the goroutine
	// of the call, and the program must survive.
	stop(s.bus)
	w.goOn()
	err := w.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Errorf("the child ended with %v, want the status of ErrUnavailable", err)
	}
}

func TestKillingAWriterOfTheKeyring(t *testing.T) {
	s := newSession(t)
	s.startKeyring(true)
	killRepeatedly(t, order{Service: testService}, 30, s.environ...)
	s.want("delete", 0, nil)
	if found := s.search(); found != "" {
		t.Errorf("after Delete secret-tool finds\n%s", found)
	}
}

func TestReadingWhileAnotherProcessWritesToTheKeyring(t *testing.T) {
	s := newSession(t)
	s.startKeyring(true)
	s.want("set", 0, nil)
	cmd := order{Service: testService, Do: "write", Serial: 1, Last: 25}.command(t.Context(), s.environ...)
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	last := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("the writer failed: %v", err)
			}
			s.want("read", 25, nil)
			return
		default:
			out, err := order{Service: testService, Do: "read"}.run(t, s.environ...)
			serial, _ := strconv.Atoi(out)
			if err != nil || serial < last {
				t.Fatalf("read value %q after %d: %v", out, last, err)
			}
			last = serial
		}
	}
}
