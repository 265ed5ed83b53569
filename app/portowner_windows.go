package app

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// addrInUse includes "access denied": that is what Windows says when the
// holder asked for exclusive use.
func addrInUse(err error) bool {
	return errors.Is(err, windows.WSAEADDRINUSE) || errors.Is(err, windows.WSAEACCES)
}

// portOwner names the program that listens on a TCP port: "nginx.exe (pid
// 812)"; "" when unknown.
func portOwner(_ context.Context, port uint16) string {
	// Sizes and offsets of MIB_TCPROW_OWNER_PID and MIB_TCP6ROW_OWNER_PID.
	for _, t := range []struct{ family, row, port, pid int }{
		{windows.AF_INET, 24, 8, 20},
		{windows.AF_INET6, 56, 20, 52},
	} {
		table := listeners(t.family)
		for len(table) >= t.row {
			row := table[:t.row]
			table = table[t.row:]
			// The port is in network byte order, in the low half of a word.
			if binary.BigEndian.Uint16(row[t.port:]) == port {
				return processName(binary.LittleEndian.Uint32(row[t.pid:]))
			}
		}
	}
	return ""
}

// listeners returns the rows of the table of listening sockets.
func listeners(family int) []byte {
	const ownerPIDListener = 3 // TCP_TABLE_OWNER_PID_LISTENER
	call := windows.NewLazySystemDLL("iphlpapi.dll").NewProc("GetExtendedTcpTable")
	buf := make([]byte, 16<<10)
	for range 4 { // the table may grow between two calls
		size := uint32(len(buf))
		rc, _, _ := call.Call(uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)), 0,
			uintptr(family), ownerPIDListener, 0)
		switch windows.Errno(rc) {
		case 0:
			return buf[4:size]
		case windows.ERROR_INSUFFICIENT_BUFFER:
			buf = make([]byte, size+1024)
		default:
			return nil
		}
	}
	return nil
}

func processName(pid uint32) string {
	unnamed := fmt.Sprintf("process %d", pid)
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return unnamed
	}
	defer windows.CloseHandle(h)
	path := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(path))
	if err := windows.QueryFullProcessImageName(h, 0, &path[0], &n); err != nil {
		return unnamed
	}
	return fmt.Sprintf("%s (pid %d)", filepath.Base(windows.UTF16ToString(path[:n])), pid)
}
