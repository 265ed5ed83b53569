package config

import (
	"net/netip"
	"testing"
)

// The program is for one person on one machine, unless he says otherwise.
func TestR21_LoopbackByDefault(t *testing.T) {
	s := Default()
	addr, err := netip.ParseAddrPort(s.Addr)
	if err != nil || !addr.Addr().IsLoopback() || s.AllowRemote {
		t.Errorf("by default it listens on %s, remote: %t (%v)", s.Addr, s.AllowRemote, err)
	}
}
