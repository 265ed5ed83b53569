package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func addrInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// portOwner names the program that listens on a TCP port: "nginx (pid 812)",
// or the user it belongs to when its files cannot be looked at; "" when
// unknown.
func portOwner(ctx context.Context, port uint16) string {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		inode, uid := findListener(f, port)
		f.Close()
		if inode == "" {
			continue
		}
		if name := socketOwner(ctx, inode); name != "" {
			return name
		}
		if u, err := user.LookupId(uid); err == nil {
			return "a program of " + u.Username
		}
	}
	return ""
}

// findListener looks up the socket that listens on port in a table of the
// kernel's form (proc_net_tcp): slot, local address, remote address, state,
// queues, timer, retransmits, uid, timeout, inode.
func findListener(table io.Reader, port uint16) (inode, uid string) {
	const listening = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) >= 10 && f[3] == listening && strings.HasSuffix(f[1], suffix) {
			return f[9], f[7]
		}
	}
	return "", ""
}

// socketOwner finds the process that has the socket open. Other users'
// processes do not let us look.
func socketOwner(ctx context.Context, inode string) string {
	want := "socket:[" + inode + "]"
	folders, err := filepath.Glob("/proc/[0-9]*/fd")
	if err != nil {
		return ""
	}
	for _, folder := range folders {
		if ctx.Err() != nil {
			return ""
		}
		files, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, file := range files {
			if target, err := os.Readlink(filepath.Join(folder, file.Name())); err == nil && target == want {
				return processName(filepath.Base(filepath.Dir(folder)))
			}
		}
	}
	return ""
}

func processName(pid string) string {
	if _, err := strconv.Atoi(pid); err != nil {
		return ""
	}
	name, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
	if err != nil {
		return "process " + pid
	}
	return fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(name)), pid)
}
