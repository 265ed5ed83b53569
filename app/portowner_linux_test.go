package app

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

func TestPortOwnerNamesTheProcess(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Logf("no listener on %s here: %v", addr, err)
			continue
		}
		defer ln.Close()
		owner := portOwner(t.Context(), portOf(ln.Addr().String()))
		if want := fmt.Sprintf("(pid %d)", os.Getpid()); !strings.HasSuffix(owner, want) {
			t.Errorf("%s: owner %q, want %q", addr, owner, want)
		}
	}
}

func TestFindListener(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:223D 00000000:0000 01 00000000:00000000 00:00000000 00000000  1000        0 11 1 0000000000000000 100 0 0 10 0
   1: 0100007F:223D 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 4242 1 0000000000000000 100 0 0 10 0
   2: short
   3: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0000000000000000 100 0 0 10 0
`
	for port, want := range map[uint16]string{8765: "4242/998", 80: "99/0", 81: "/"} {
		inode, uid := findListener(strings.NewReader(table), port)
		if got := inode + "/" + uid; got != want {
			t.Errorf("port %d: %q, want %q", port, got, want)
		}
	}
}

func FuzzFindListener(f *testing.F) {
	f.Add("0: 0100007F:223D 0:0 0A 0 0 0 1 0 2")
	f.Fuzz(func(t *testing.T, table string) {
		findListener(strings.NewReader(table), 8765)
	})
}
