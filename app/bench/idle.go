package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// idleSettle is from the start until all that a start does is done: the first
	// checks, and that nothing shows the icon is told.
	idleSettle = 40 * time.Second
	idleTime   = 10 * time.Minute
	idleSample = time.Second
)

// idle watches the tray while nobody wants anything: the seconds in which one of
// its threads woke, the processor that it took, and its memory. It has a session
// bus of its own, which needs dbus-daemon.
func (b *bench) idle() error {
	home, err := os.MkdirTemp(b.dir, "home")
	if err != nil {
		return err
	}
	bus, err := startBus(home)
	if err != nil {
		return err
	}
	defer bus.stop()
	cmd := exec.Command(b.cursortray, "tray")
	cmd.Env = append(ownEnv(home), "DBUS_SESSION_BUS_ADDRESS="+bus.url, "CURSORTRAY_TOKEN_STORE=memory", "PATH="+home)
	tray, err := start(ours, cmd)
	if err != nil {
		return err
	}
	defer tray.stop()
	time.Sleep(idleSettle)
	pid := tray.cmd.Process.Pid
	before, err := cpu(pid)
	if err != nil {
		return err
	}
	last, err := switches(pid)
	if err != nil {
		return err
	}
	awake := 0
	for range idleTime / idleSample {
		time.Sleep(idleSample)
		now, err := switches(pid)
		if err != nil {
			return err
		}
		if now != last {
			awake++
		}
		last = now
	}
	after, err := cpu(pid)
	if err != nil {
		return err
	}
	resident, err := memory(pid, "VmRSS")
	if err != nil {
		return err
	}
	minutes := idleTime.Minutes()
	b.out.alone("idle: seconds awake in a minute", "", float64(awake)/minutes, 6)
	b.out.alone("idle: processor in a minute", "ms", millis(after-before)/minutes, 10)
	b.out.alone("idle: memory", "MiB", mega(resident), 40)
	return nil
}

// alone is a row about cursortray without a yardstick.
func (t *table) alone(name, unit string, ours, target float64) {
	t.row(name, "", figure(ours, unit), "", strings.TrimSpace(fmt.Sprintf("<= %g %s", target, unit)), ours <= target)
}

// startBus starts a session bus that starts nothing by itself.
func startBus(dir string) (*server, error) {
	config := filepath.Join(dir, "bus.conf")
	const text = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--nosyslog", "--print-address")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	bus := &server{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if bus.url = strings.TrimSpace(line); err != nil {
		bus.stop()
		return nil, fmt.Errorf("dbus-daemon did not tell its address: %w", err)
	}
	return bus, nil
}

// switches counts how often the threads of a process have gone to sleep of
// themselves, which they do after each time that something woke them.
func switches(pid int) (int64, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			if number, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
				if err != nil {
					return 0, err
				}
				sum += n
			}
		}
	}
	if len(threads) == 0 {
		return 0, fmt.Errorf("process %d is gone", pid)
	}
	return sum, nil
}
