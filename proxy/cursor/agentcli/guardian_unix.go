//go:build unix

package agentcli

import (
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// guardianScript is all that a guardian does: it keeps the list of groups that
// it is told, and ends them when the pipe closes. Nobody but this program holds
// the other end, so that happens however this program dies. The order of the
// arguments of kill is the one that every shell takes.
const guardianScript = `trap '' INT TERM HUP QUIT
groups=
while read -r line; do
	case $line in
	+*) groups="$groups ${line#+}" ;;
	-*) rest=
		for g in $groups; do [ "$g" = "${line#-}" ] || rest="$rest $g"; done
		groups=$rest ;;
	esac
done
[ -n "$groups" ] || exit 0
end() { for g in $groups; do kill -s "$1" -- "-$g"; done; }
end TERM
sleep 1
end KILL`

const (
	guardianRest  = time.Second            // a guardian without groups stays that long
	guardianWrite = 100 * time.Millisecond // a guardian that takes longer to listen is no use
)

// guardian outlives this program when it is killed, for just as long as it takes
// to end the groups of the runs: the CLI's launcher is a shell that starts a
// Node, and the signal that Linux sends at a parent's death reaches the shell
// only. It is a process of about 1 MB that exists while there are runs. Its
// methods may be called by any goroutine; it has one that waits for the process.
type guardian struct {
	log   *slog.Logger
	shell string

	mu       sync.Mutex
	groups   map[int]bool
	lines    *os.File    // to the process; nil while none listens
	process  *os.Process // with lines
	starting bool
	warned   bool // that there is no shell
	closed   bool
	resting  *time.Timer
	waits    sync.WaitGroup
}

func newGuardian(log *slog.Logger) *guardian {
	return &guardian{log: log, shell: "/bin/sh", groups: map[int]bool{}}
}

// watch has the group ended if this program is killed. A process for that is
// started behind the caller's back, for the caller is in a hurry.
func (s *guardian) watch(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[g.leader] = true
	if s.resting != nil {
		s.resting.Stop()
	}
	s.tell('+', g.leader)
	if s.lines == nil && !s.starting && !s.closed {
		s.starting = true
		s.waits.Go(s.run)
	}
}

// release takes the group, which is gone, from the list.
func (s *guardian) release(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.groups, g.leader)
	s.tell('-', g.leader)
	s.rest()
}

// close returns when the process is gone. No group may be left.
func (s *guardian) close() {
	s.mu.Lock()
	s.closed = true
	s.rest()
	s.mu.Unlock()
	s.waits.Wait()
}

// run starts the process and waits for its end.
func (s *guardian) run() {
	process, lines, err := s.start()
	s.mu.Lock()
	s.starting = false
	if err != nil {
		told := s.warned
		s.warned = true
		s.mu.Unlock()
		if !told {
			s.log.Warn("processes of the Cursor CLI may survive if cursortray is killed", "error", err)
		}
		return
	}
	s.process, s.lines = process.Process, lines
	for leader := range s.groups {
		s.tell('+', leader)
	}
	s.rest()
	s.mu.Unlock()
	_ = process.Wait() // how it ended does not matter: the next group starts another
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == lines {
		s.dismiss()
	}
}

// start starts the process in a session of its own, so that the Ctrl-C that is
// meant for this program does not reach it.
func (s *guardian) start() (*exec.Cmd, *os.File, error) {
	r, w, err := os.Pipe() // no other child inherits it
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	cmd := exec.Command(s.shell, "-c", guardianScript, "cursortray-guardian")
	cmd.Stdin = r
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin"} // for sleep
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, nil, err
	}
	return cmd, w, nil
}

// tell writes one line. The lock is held.
func (s *guardian) tell(sign byte, leader int) {
	if s.lines == nil {
		return
	}
	line := append(strconv.AppendInt([]byte{sign}, int64(leader), 10), '\n')
	s.lines.SetWriteDeadline(time.Now().Add(guardianWrite))
	if _, err := s.lines.Write(line); err != nil {
		s.dismiss()
	}
}

// rest sends the process home when there is nothing to guard. The lock is held.
func (s *guardian) rest() {
	switch {
	case s.lines == nil, len(s.groups) > 0:
	case s.closed:
		s.dismiss()
	case s.resting == nil:
		s.resting = time.AfterFunc(guardianRest, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.lines != nil && len(s.groups) == 0 {
				s.dismiss()
			}
		})
	default:
		s.resting.Reset(guardianRest)
	}
}

// dismiss ends the process before the pipe closes, so that it ends nobody else.
// The lock is held.
func (s *guardian) dismiss() {
	_ = s.process.Kill() // it may be gone
	s.lines.Close()
	s.lines, s.process = nil, nil
}
