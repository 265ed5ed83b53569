package cursor

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestChecksum(t *testing.T) {
	tests := []struct {
		ms   int64
		ids  deviceIDs
		want string
	}{
		{1750000000000, deviceIDs{machine: "m"}, "Fufp9km+m"},
		{1780000000000, deviceIDs{machine: "m", mac: "n"}, "jK2vt6KHm/n"},
		{1780000999999, deviceIDs{}, "jK2vt6KH"},
	}
	for _, tt := range tests {
		if got := checksum(time.UnixMilli(tt.ms), tt.ids); got != tt.want {
			t.Errorf("checksum at %d = %s, want %s", tt.ms, got, tt.want)
		}
	}
}

func TestDeviceIDs(t *testing.T) {
	const (
		id, idHash   = "0123456789abcdef0123456789abcdef", "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9"
		mac, macHash = "02:42:ac:11:00:02", "3424b72ee104e99be183dc60a7b751a058f3ff95747d04922fb59889f7e032b1"
	)
	tests := []struct {
		name     string
		platform string
		macs     []string
		hostname string
		want     deviceIDs
	}{
		{"all", id + "\n", []string{"", "00:00:00:00:00:00", mac, "02:42:ac:11:00:03"}, "host", deviceIDs{idHash, macHash}},
		{"no interface", id, nil, "host", deviceIDs{idHash, ""}},
		{"no platform id", " \n", []string{mac}, "host", deviceIDs{macHash, macHash}},
		{"host name only", "", []string{""}, "host", deviceIDs{hexHash("host"), ""}},
	}
	for _, tt := range tests {
		if got := newDeviceIDs(tt.platform, tt.macs, tt.hostname); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	first, second := thisDevice(t.Context()), thisDevice(t.Context())
	if first != second || first.machine == "" {
		t.Errorf("this machine has no stable id: %+v, %+v", first, second)
	}
}

func TestClientVersion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"2026.05.01-eea359f", "2026.07.23-e383d2b", "2026.07.09-a3815c0", "latest", "9999.99.99-zzz"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "2026.09.01-abcdef0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		cfg  IdentityConfig
		want string // "" is an error
	}{
		{IdentityConfig{}, defaultVersion},
		{IdentityConfig{Versions: filepath.Join(dir, "missing")}, defaultVersion},
		{IdentityConfig{Versions: dir}, "cli-2026.07.23-e383d2b"},
		{IdentityConfig{Version: "cli-1.0", Versions: dir}, "cli-1.0"},
		{IdentityConfig{Version: "1.0"}, ""},
		{IdentityConfig{Version: "cli-1\r\nX: y"}, ""},
	}
	for _, tt := range tests {
		i, err := NewIdentity(t.Context(), tt.cfg)
		if err != nil && tt.want != "" || err == nil && i.version != tt.want {
			t.Errorf("%+v: %+v, %v", tt.cfg, i, err)
		}
	}
}

func TestClientHeaders(t *testing.T) {
	at := func(timezone string, ids deviceIDs) func() place {
		return func() place { return place{timezone, ids} }
	}
	i := &Identity{version: "cli-1.0", privacy: true, place: at("Europe/Berlin", deviceIDs{"m", "n"})}
	h := http.Header{}
	i.apply(h, time.UnixMilli(1780000000000))
	want := map[string]string{
		"connect-protocol-version": "1", "x-cursor-client-type": "cli", "x-cursor-client-version": "cli-1.0",
		"x-ghost-mode": "true", "x-cursor-timezone": "Europe/Berlin", "x-cursor-checksum": "jK2vt6KHm/n",
	}
	for name, value := range want {
		if h.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, h.Get(name), value)
		}
	}
	id := h.Get("x-request-id")
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("x-request-id: %q", id)
	}
	i.apply(h, time.Now())
	if h.Get("x-request-id") == id {
		t.Error("the request id was used twice")
	}
	if name := TimeZone(); name != "" && !zoneName().MatchString(name) {
		t.Errorf("time zone %q", name)
	}
	shared := http.Header{}
	(&Identity{}).apply(shared, time.Now())
	if shared.Get("x-ghost-mode") != "false" || shared.Values("x-cursor-timezone") != nil {
		t.Errorf("headers: %v", shared)
	}
}
