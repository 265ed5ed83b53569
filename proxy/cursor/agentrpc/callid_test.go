package agentrpc

import (
	"strings"
	"testing"
)

func TestCallIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, key := range []string{newRunKey(), newRunKey()} {
		for _, n := range []int{0, 1, 42, 99999999} {
			id := callID(key, n)
			if len(id) > 40 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
				t.Errorf("%q would be cut or refused by clients", id)
			}
			if seen[id] {
				t.Errorf("%q is there twice", id)
			}
			seen[id] = true
		}
	}
}
