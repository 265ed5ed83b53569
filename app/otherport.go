package app

import (
	"net"
	"strconv"
)

// portsTried is how many ports above a busy one are looked at.
const portsTried = 32

// nextFree finds a free port above that of addr, on the same host; "" if there
// is none near.
func nextFree(cfg *Config, addr string) string {
	host, _, err := net.SplitHostPort(addr)
	first := int(portOf(addr))
	if err != nil || first == 0 {
		return ""
	}
	for port := first + 1; port <= min(first+portsTried, 65535); port++ {
		next := net.JoinHostPort(host, strconv.Itoa(port))
		if ln, err := cfg.Listen(next); err == nil {
			ln.Close()
			return next
		}
	}
	return ""
}

// useNextPort moves the proxy for good. Nothing else ever does: editors know its
// number.
func (m *machine) useNextPort() {
	next := m.snap.Proxy.Next
	if m.snap.Proxy.State != Blocked || next == "" || m.quitting {
		return
	}
	m.server.addr = next
	m.snap.Proxy.Addr, m.snap.Proxy.BaseURL = next, baseURL(next)
	m.notify("Editors need the new base URL: " + m.snap.Proxy.BaseURL)
	m.save("addr", next, "The new port holds until cursortray ends: it was not saved")
	m.startProxy()
}
