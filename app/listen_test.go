package app

import "testing"

func TestCheckAddr(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:8765":          true,
		"127.9.9.9:0":             true,
		"[::1]:8765":              true,
		"[::ffff:127.0.0.1]:8765": true,
		"localhost:8765":          true,
		"LocalHost:1":             true,
		":8765":                   false,
		"0.0.0.0:8765":            false,
		"[::]:8765":               false,
		"192.168.1.2:8765":        false,
		"example.com:8765":        false,
		"localhost.evil.com:80":   false,
		"127.0.0.1.evil.com:80":   false,
		"127.0.0.1":               false,
		"127.0.0.1:70000":         false,
		"127.0.0.1:http":          false,
		"":                        false,
	} {
		if err := checkAddr(addr, false); (err == nil) != ok {
			t.Errorf("%q: %v", addr, err)
		}
	}
	for _, addr := range []string{":8765", "0.0.0.0:8765", "example.com:80"} {
		if err := checkAddr(addr, true); err != nil {
			t.Errorf("%q with leave: %v", addr, err)
		}
	}
	if err := checkAddr("0.0.0.0", true); err == nil {
		t.Error("an address without port is taken")
	}
}

func TestBaseURL(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8765": "http://127.0.0.1:8765/v1",
		"localhost:8765": "http://127.0.0.1:8765/v1",
		"0.0.0.0:8765":   "http://127.0.0.1:8765/v1",
		"[::]:8765":      "http://127.0.0.1:8765/v1",
		":8765":          "http://127.0.0.1:8765/v1",
		"[::1]:8765":     "http://[::1]:8765/v1",
		"10.0.0.7:1":     "http://10.0.0.7:1/v1",
		"127.0.0.1:0":    "",
		"nonsense":       "",
	} {
		if got := baseURL(addr); got != want {
			t.Errorf("%q: %q, want %q", addr, got, want)
		}
	}
}
