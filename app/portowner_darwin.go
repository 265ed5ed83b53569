package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

func addrInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// portOwner names the program that listens on a TCP port: "nginx (pid 812)";
// "" when lsof does not tell, as for other users' programs.
func portOwner(ctx context.Context, port uint16) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	// -F: one field a line, p is the pid, c the command.
	out, err := exec.CommandContext(ctx, "/usr/sbin/lsof", "-nP", fmt.Sprintf("-iTCP:%d", port), "-sTCP:LISTEN", "-Fpc").Output()
	if err != nil {
		return ""
	}
	var pid string
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		switch line := lines.Text(); {
		case len(line) < 2:
		case line[0] == 'p':
			pid = line[1:]
		case line[0] == 'c' && pid != "":
			return fmt.Sprintf("%s (pid %s)", line[1:], pid)
		}
	}
	return ""
}
