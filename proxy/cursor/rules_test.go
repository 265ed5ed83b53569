package cursor

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const regional = "agentn.eu.api5.cursor.sh"

// The agent host is asked for once per login, and kept in memory only.
func TestR1_AgentHostIsKeptInMemoryOnly(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[configPath] = says(`{"agentUrlConfig":{"agentnUrl":"https://` + regional + `"}}`)
	store := storeOf(f.login(time.Hour))
	cfg := f.config(t, store)
	s := newSource(t, cfg)
	for want := range 2 { // the second is the program after a restart
		a, err := NewAgentHost(newClient(f, cfg, s), cfg.Hosts, s, "")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got, err := a.Origin(t.Context()); err != nil || got != "https://"+regional {
				t.Fatalf("Origin = %q, %v", got, err)
			}
		}
		f.wantCalls(t, configPath, want+1)
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	for name, value := range store.values {
		if strings.Contains(string(value), regional) {
			t.Errorf("%s holds the host", name)
		}
	}
}

// The base of the API and that of the agent are set apart from each other.
func TestR2_TwoBases(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[configPath] = says(`{"agentUrlConfig":{"agentnUrl":"https://` + regional + `"}}`)
	// Another agent host leaves the API where it is.
	a, s := newAgentHost(t, f, "https://mine.cursor.sh")
	if got, err := a.Origin(t.Context()); err != nil || got != "https://mine.cursor.sh" {
		t.Errorf("Origin = %q, %v", got, err)
	}
	if err := s.SignIn(t.Context(), f.login(time.Hour)); err != nil {
		t.Error(err)
	}
	// And another API, which the fake is, leaves the agent host to the server.
	a, _ = newAgentHost(t, f, "")
	if got, err := a.Origin(t.Context()); err != nil || got != "https://"+regional {
		t.Errorf("Origin = %q, %v", got, err)
	}
	f.wantCalls(t, configPath, 1)
	h, err := ParseHosts("https://api.example.com", "")
	if err != nil || h.API() != "https://api.example.com" || h.Website() != defaultWebsite {
		t.Errorf("%+v, %v", h, err)
	}
}

// An agent host is Cursor's own, over https, whoever names it.
func TestR3_AgentHostsAreCursorsOwn(t *testing.T) {
	for host, ok := range map[string]bool{
		"https://" + regional: true, regional: true, "https://a.cursor.sh:8443/x?y#z": true,
		"http://" + regional: false, "https://cursor.sh.evil.com": false, "https://evilcursor.sh": false, "https://127.0.0.1:1": false, "https://me@" + regional: false,
	} {
		if _, err := NewAgentHost(nil, Hosts{}, nil, host); (err == nil) != ok {
			t.Errorf("set by the user: %s: %v", host, err)
		}
		f := newFakeCursor(t)
		f.faults[configPath] = says(`{"agentUrlConfig":{"agentnUrl":"` + host + `"}}`)
		a, _ := newAgentHost(t, f, "")
		if got, err := a.Origin(t.Context()); (err == nil) != ok || ok && !strings.Contains(got, ".cursor.sh") {
			t.Errorf("named by the server: %s: %q, %v", host, got, err)
		}
	}
}

// Whoever asks for the settings of the server wants no telemetry.
func TestR4_NoTelemetry(t *testing.T) {
	f := newFakeCursor(t)
	a, _ := newAgentHost(t, f, "")
	if _, err := a.Origin(t.Context()); err == nil { // the fake names no host
		t.Fatal("a host out of nothing")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seenBody) == 0 {
		t.Fatal("the server was not asked")
	}
	if last := f.seenBody[len(f.seenBody)-1]; last != `{"telem_enabled":false}` {
		t.Errorf("the request is %s", last)
	}
}

// The device is the same after a restart of the program, and at any time.
func TestR15_DeviceIsTheSameAfterARestart(t *testing.T) {
	device := func(at time.Time) string {
		i, err := NewIdentity(t.Context(), IdentityConfig{})
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		i.apply(h, at)
		checksum := h.Get("X-Cursor-Checksum")
		if len(checksum) < 8+64 {
			t.Fatalf("checksum %q", checksum)
		}
		return checksum[8:]
	}
	first, second := device(time.UnixMilli(1750000000000)), device(time.UnixMilli(1780000000000))
	if first != second {
		t.Errorf("the device was %s and is %s", first, second)
	}
}
