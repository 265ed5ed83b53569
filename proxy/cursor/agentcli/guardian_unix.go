//go:build unix

package agentcli

import (
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// guardianScript is all that a guardian does: it sleeps until its standard input
// closes, and then ends the groups that are on the list, which lies in another
// pipe. Nobody but this program holds the writing ends, so that happens however
// this program dies. The order of the arguments of kill is the one that every
// shell takes.
const guardianScript = `trap '' INT TERM HUP QUIT
read -r life
groups=
while read -r line; do
	case $line in
	+*) groups="$groups ${line#+}" ;;
	-*) rest=
		for g in $groups; do [ "$g" = "${line#-}" ] || rest="$rest $g"; done
		groups=$rest ;;
	esac
done <&3
[ -n "$groups" ] || exit 0
end() { for g in $groups; do kill -s "$1" -- "-$g"; done; }
end TERM
sleep 1
end KILL`

const (
	guardianDelay = 10 * time.Millisecond // the CLI's launcher takes longer to start anything
	guardianRest  = time.Second           // a guardian without groups stays that long
	guardianList  = 4 << 10               // bytes; the smallest pipe there is holds as many
)

// guardian outlives this program when it is killed, for just as long as it takes
// to end the groups of the runs: the CLI's launcher is a shell that starts a
// Node, and the signal that Linux sends at a parent's death reaches the shell
// only. It is a process of about 1 MB that exists while there are runs. Its
// methods may be called by any goroutine; it has one that waits for the process.
type guardian struct {
	log   *slog.Logger
	shell string
	delay time.Duration // from the first group to the start of a process

	mu       sync.Mutex
	groups   map[int]bool
	process  *os.Process // nil while there is none
	life     *os.File    // with process; its end is that of the groups
	list     *list       // with process
	starting bool
	warned   bool // that there is no shell
	closed   bool
	resting  *time.Timer
	waits    sync.WaitGroup
}

func newGuardian(log *slog.Logger) *guardian {
	return &guardian{log: log, shell: "/bin/sh", delay: guardianDelay, groups: map[int]bool{}}
}

// watch has the group ended if this program is killed. A process for that is
// started behind the caller's back and not at once, for the caller is in a hurry.
func (s *guardian) watch(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[g.leader] = true
	if s.resting != nil {
		s.resting.Stop()
	}
	s.tell('+', g.leader)
	if s.process == nil && !s.starting && !s.closed {
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

// run starts a process, if there is still a group after the delay, and waits for
// its end.
func (s *guardian) run() {
	time.Sleep(s.delay)
	if !s.wanted() {
		return
	}
	process, err := s.start()
	if err != nil {
		s.failed(err)
		return
	}
	_ = process.Wait() // how it ended does not matter: the next group starts another
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == process.Process {
		s.dismiss()
	}
}

// wanted says whether to go on with the start.
func (s *guardian) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = len(s.groups) > 0
	return s.starting
}

func (s *guardian) failed(err error) {
	s.mu.Lock()
	told := s.warned
	s.starting, s.warned = false, true
	s.mu.Unlock()
	if !told {
		s.log.Warn("processes of the Cursor CLI may survive if cursortray is killed", "error", err)
	}
}

// start starts the process in a session of its own, so that the Ctrl-C that is
// meant for this program does not reach it.
func (s *guardian) start() (*exec.Cmd, error) {
	stdin, life, err := os.Pipe() // no other child inherits the writing ends
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	l, err := newList()
	if err != nil {
		life.Close()
		return nil, err
	}
	cmd := exec.Command(s.shell, "-c", guardianScript, "cursortray-guardian")
	cmd.Stdin = stdin
	cmd.ExtraFiles = []*os.File{l.r}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin"} // for sleep
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		life.Close()
		l.close()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = false
	s.process, s.life, s.list = cmd.Process, life, l
	for leader := range s.groups {
		s.tell('+', leader)
	}
	s.rest()
	return cmd, nil
}

// tell adds a line to the list. The lock is held.
func (s *guardian) tell(sign byte, leader int) {
	if s.process == nil {
		return
	}
	if s.list.full() {
		s.list.clear()
		for other := range s.groups {
			s.list.add('+', other)
		}
		return // that says it all
	}
	s.list.add(sign, leader)
}

// rest sends the process home when there is nothing to guard. The lock is held.
func (s *guardian) rest() {
	switch {
	case s.process == nil, len(s.groups) > 0:
	case s.closed:
		s.dismiss()
	case s.resting == nil:
		s.resting = time.AfterFunc(guardianRest, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.process != nil && len(s.groups) == 0 {
				s.dismiss()
			}
		})
	default:
		s.resting.Reset(guardianRest)
	}
}

// dismiss ends the process before the pipes close, so that it ends nobody else.
// The lock is held.
func (s *guardian) dismiss() {
	_ = s.process.Kill() // it may be gone
	s.life.Close()
	s.list.close()
	s.life, s.list, s.process = nil, nil, nil
}

// list is what a guardian reads when this program is gone. Until then it lies in
// the pipe, so that no run wakes the guardian.
type list struct {
	r, w *os.File
	size int // bytes in the pipe
}

func newList() (*list, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &list{r: r, w: w}, nil
}

// full says that the pipe may not hold more.
func (l *list) full() bool { return l.size > guardianList-64 }

func (l *list) add(sign byte, leader int) {
	line := append(strconv.AppendInt([]byte{sign}, int64(leader), 10), '\n')
	// More runs at once than a small pipe can hold are not worth waiting for.
	l.w.SetWriteDeadline(time.Now().Add(time.Millisecond))
	n, _ := l.w.Write(line)
	l.size += n
}

// clear takes back what the guardian has not read, which is all.
func (l *list) clear() {
	if _, err := io.CopyN(io.Discard, l.r, int64(l.size)); err == nil {
		l.size = 0
	}
}

func (l *list) close() {
	l.r.Close()
	l.w.Close()
}
