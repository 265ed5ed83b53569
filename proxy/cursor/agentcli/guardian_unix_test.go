//go:build unix

package agentcli

import (
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// launcher writes a shell script that starts the CLI as the real launcher does,
// without giving its own process up for it.
func launcher(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cursor-agent")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n\""+self(t)+"\" \"$@\"\nexit $?\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRS4_ProcessBehindALauncherDiesWithTheProgram: the signal of the system at a
// parent's death reaches the launcher only.
func TestRS4_ProcessBehindALauncherDiesWithTheProgram(t *testing.T) {
	script := agentsim.Script{Mode: agentsim.Stream, OpenTool: time.Minute, IgnoreTerm: true}
	killProgram(t, script, launcher(t), 1, t.TempDir())
}

// guarded waits until the back-end's guardian is there and returns its process id.
func guarded(t *testing.T, r *rig) int {
	t.Helper()
	pid := 0
	eventually(t, 10*time.Second, "there is a guardian", func() bool {
		pid = guardianPid(r)
		return pid != 0
	})
	return pid
}

func guardianPid(r *rig) int {
	s := r.children.guard
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.Pid
}

func exists(pid int) bool { return syscall.Kill(pid, 0) == nil }

// TestGuardianComesAndGoes: there is one while there are runs, whatever the
// terminal sends it, and none soon after.
func TestGuardianComesAndGoes(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	r.children.guard.delay = 0
	if guardianPid(r) != 0 {
		t.Error("a guardian of nothing")
	}
	r.answer(t, hello())
	pid := guarded(t, r)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
	}
	if group, err := syscall.Getpgid(pid); err != nil || group == syscall.Getpgrp() {
		t.Errorf("it is in the group %d, %v", group, err)
	}
	r.answer(t, hello())
	if again := guarded(t, r); again != pid {
		t.Error("signals ended the guardian, or there are two")
	}
	eventually(t, guardianRest+5*time.Second, "the guardian is gone", func() bool { return !exists(pid) && guardianPid(r) == 0 })
	r.answer(t, hello())
	pid = guarded(t, r)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if exists(pid) {
		t.Error("the guardian outlives Close")
	}
}

// TestGuardianIsReplaced: somebody may end it.
func TestGuardianIsReplaced(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	r.children.guard.delay = 0
	r.answer(t, hello())
	pid := guarded(t, r)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Second, "its end is seen", func() bool { return guardianPid(r) != pid })
	r.answer(t, hello())
	if again := guarded(t, r); again == pid {
		t.Error("the ended guardian is still counted on")
	}
}

// TestGuardianList: however many runs there were, the list holds what is left to
// do, even for a guardian that was stopped all the time.
func TestGuardianList(t *testing.T) {
	pids := t.TempDir()
	cmd := exec.Command(self(t))
	cmd.Env = append(os.Environ(), agentsim.Script{Mode: agentsim.Hold, IgnoreTerm: true}.Environ(), agentsim.PidsEnv+"="+pids)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the process runs", func() bool { return (&rig{pids: pids}).live(t) == 1 })

	s := newGuardian(slog.New(slog.DiscardHandler))
	s.delay = 0
	s.watch(&group{leader: cmd.Process.Pid})
	r := &rig{Backend: &Backend{children: children{guard: s}}}
	pid := guarded(t, r)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for i := range 10000 { // more than any pipe holds
		s.watch(&group{leader: 1<<30 + i})
		s.release(&group{leader: 1<<30 + i})
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	if s.list.size > guardianList {
		t.Errorf("the list has %d bytes", s.list.size)
	}
	s.life.Close() // as the system does when this program dies
	s.list.w.Close()
	s.mu.Unlock()
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the group ended with %v", err)
	}
	s.release(&group{leader: cmd.Process.Pid})
	s.close()
}

// TestNoGuardianOfShortRuns: what is over by the time that a launcher could have
// started something costs no second process.
func TestNoGuardianOfShortRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		s := newGuardian(slog.New(slog.NewTextHandler(&log, nil)))
		s.shell = "" // a start would be told
		g := &group{leader: 1 << 30}
		s.watch(g)
		time.Sleep(guardianDelay - time.Millisecond)
		s.release(g)
		time.Sleep(time.Second)
		if text := log.String(); text != "" {
			t.Errorf("a guardian was started: %s", text)
		}
		s.watch(g)
		time.Sleep(guardianDelay)
		synctest.Wait()
		if log.String() == "" {
			t.Error("no guardian of a long run")
		}
		s.release(g)
		s.close()
	})
}

func TestNoShellNoGuardian(t *testing.T) {
	var log lockedBuffer
	r := newRig(t, agentsim.Script{}, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	r.children.guard.delay = 0
	r.children.guard.shell = filepath.Join(t.TempDir(), "sh")
	r.answer(t, hello())
	r.answer(t, hello())
	r.Close()
	if n := strings.Count(log.String(), "may survive"); n != 1 {
		t.Errorf("told %d times:\n%s", n, log.String())
	}
}

// TestGuardianScript runs the script under every shell that is installed: ended
// groups are left alone, the others are ended, also those that ignore SIGTERM.
func TestGuardianScript(t *testing.T) {
	shells := []string{"/bin/sh"}
	for _, name := range []string{"dash", "bash", "busybox", "ksh", "mksh"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		}
	}
	for _, shell := range shells {
		t.Run(filepath.Base(shell), func(t *testing.T) {
			t.Parallel()
			pids := t.TempDir()
			start := func(ignore bool) *exec.Cmd {
				cmd := exec.Command(self(t))
				cmd.Env = append(os.Environ(), agentsim.Script{Mode: agentsim.Hold, IgnoreTerm: ignore}.Environ(), agentsim.PidsEnv+"="+pids)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				return cmd
			}
			spared, gentle, stubborn := start(false), start(false), start(true)
			r := &rig{pids: pids}
			eventually(t, 10*time.Second, "the processes run", func() bool { return r.live(t) == 3 })
			args := []string{"-c", guardianScript, "guardian"}
			if strings.HasSuffix(shell, "busybox") {
				args = append([]string{"sh"}, args...)
			}
			guard := exec.Command(shell, args...)
			var lines []string
			for _, cmd := range []*exec.Cmd{gentle, spared, stubborn} {
				lines = append(lines, "+"+strconv.Itoa(cmd.Process.Pid))
			}
			lines = append(lines, "-"+strconv.Itoa(spared.Process.Pid), "")
			listed, list, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer listed.Close()
			io.WriteString(list, strings.Join(lines, "\n"))
			list.Close()
			guard.ExtraFiles = []*os.File{listed}
			if out, err := guard.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			gentle.Wait()
			stubborn.Wait()
			if n := r.live(t); n != 1 {
				t.Errorf("%d processes are left, want the one that was taken off the list", n)
			}
			spared.Process.Kill()
			spared.Wait()
		})
	}
}
