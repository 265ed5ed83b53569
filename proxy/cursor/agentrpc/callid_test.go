package agentrpc

import (
	"strings"
	"testing"
)

func TestCallIDs(t *testing.T) {
	key := newRunKey()
	for _, n := range []int{0, 1, 42, 99999999} {
		id := callID(key, n)
		if len(id) > 40 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Errorf("%q would be cut or refused by clients", id)
		}
		if gotKey, gotN, ok := parseCallID(id); !ok || gotKey != key || gotN != n {
			t.Errorf("%q reads as %q %d %v", id, gotKey, gotN, ok)
		}
	}
	if newRunKey() == newRunKey() {
		t.Error("two runs share a key")
	}
	for _, id := range []string{
		"", "call_", "call_abc", "toolu_01A", callID(key, 1) + "0000000000", callID(strings.ToLower(key), 1), "call_" + key, "call_" + key + "_",
		"call_" + key + "_01", "call_" + key + "_-1", "call_" + key + "_x", "xcall_" + key + "_1", "call_" + key + "x_1",
	} {
		if key, n, ok := parseCallID(id); ok {
			t.Errorf("%q reads as %q %d", id, key, n)
		}
	}
}
