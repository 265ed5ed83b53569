package cursor

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

const configPath = "/aiserver.v1.ServerConfigService/GetServerConfig"

// says makes the server answer with text.
func says(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprint(w, text) }
}

func newAgentHost(t *testing.T, f *fakeCursor, override string) (*AgentHost, *TokenSource) {
	t.Helper()
	cfg := f.config(t, storeOf(f.login(time.Hour)))
	s := newSource(t, cfg)
	a, err := NewAgentHost(newClient(f, cfg, s), cfg.Hosts, s, override)
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

func TestSE3_AgentHostFromTheServer(t *testing.T) {
	tests := []struct {
		name   string
		answer func(http.ResponseWriter)
		want   string
		kind   chat.Kind
		code   string
	}{
		{"regional", says(`{"agentUrlConfig":{"agentnUrl":"https://agentn.us.api5.cursor.sh","agentUrl":"https://agent.api5.cursor.sh"},"x":1}`),
			"https://agentn.us.api5.cursor.sh", 0, ""},
		{"older field only", says(`{"agentUrlConfig":{"agentUrl":"agent.api5.cursor.sh"}}`), "https://agent.api5.cursor.sh", 0, ""},
		{"look-alike", says(`{"agentUrlConfig":{"agentnUrl":"https://cursor.sh.evil.com","agentUrl":"https://agent.api5.cursor.sh"}}`),
			"", chat.BadGateway, CodeServer},
		{"not https", says(`{"agentUrlConfig":{"agentnUrl":"http://agent.api5.cursor.sh"}}`), "", chat.BadGateway, CodeServer},
		{"nothing named", says(`{}`), "", chat.BadGateway, CodeServer},
		{"a page", page(200), "", chat.BadGateway, CodeServer},
		{"cut", cutBody, "", chat.BadGateway, CodeOffline},
		{"server down", status(503), "", chat.BadGateway, CodeServer},
		{"throttled", status(429), "", chat.RateLimited, CodeServer},
		{"login refused", status(401), "", chat.LoginRequired, CodeLoginEnded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFakeCursor(t)
			f.faults[configPath] = tt.answer
			a, _ := newAgentHost(t, f, "")
			got, err := a.Origin(t.Context())
			if tt.code != "" {
				wantCode(t, err, tt.kind, tt.code)
				if strings.Contains(err.Error(), "agent.api5") {
					t.Error("it fell back to another host")
				}
			} else if err != nil || got != tt.want {
				t.Errorf("Origin = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestAgentHostIsAskedOnce(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[configPath] = says(`{"agentUrlConfig":{"agentnUrl":"https://a.cursor.sh"}}`)
	a, s := newAgentHost(t, f, "")
	results := inParallel(t, 50, func() (string, error) { return a.Origin(t.Context()) })
	if len(results) != 1 {
		t.Errorf("results: %v", results)
	}
	f.wantCalls(t, configPath, 1)
	a.Forget()
	if _, err := a.Origin(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.wantCalls(t, configPath, 2)
	// Another account may live in another region.
	if err := s.SignIn(t.Context(), f.login(time.Hour)); err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.faults[configPath] = says(`{"agentUrlConfig":{"agentnUrl":"https://b.cursor.sh"}}`) })
	if got, err := a.Origin(t.Context()); err != nil || got != "https://b.cursor.sh" {
		t.Errorf("Origin = %q, %v", got, err)
	}
}

func TestAgentHostFailureIsNotKept(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[configPath] = status(503)
	a, _ := newAgentHost(t, f, "")
	if _, err := a.Origin(t.Context()); err == nil {
		t.Fatal("no error")
	}
	f.set(func() { f.faults[configPath] = says(`{"agentUrlConfig":{"agentnUrl":"https://a.cursor.sh"}}`) })
	if _, err := a.Origin(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAgentHostSurvivesTheCallerWhoAsked(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[configPath] = says(`{"agentUrlConfig":{"agentnUrl":"https://a.cursor.sh"}}`)
	a, _ := newAgentHost(t, f, "")
	arrived, release := f.holdCalls()
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := a.Origin(ctx)
		first <- err
	}()
	<-arrived
	go func() {
		_, err := a.Origin(t.Context())
		second <- err
	}()
	cancel()
	wantCode(t, <-first, chat.Canceled, "")
	release()
	if err := <-second; err != nil {
		t.Errorf("the other caller: %v", err)
	}
}

func TestAgentHostOverride(t *testing.T) {
	f := newFakeCursor(t)
	a, s := newAgentHost(t, f, "api2.cursor.sh")
	if got, err := a.Origin(t.Context()); err != nil || got != "https://api2.cursor.sh" {
		t.Errorf("Origin = %q, %v", got, err)
	}
	f.wantCalls(t, configPath, 0)
	if _, err := NewAgentHost(nil, Hosts{}, s, "https://evil.com"); err == nil {
		t.Error("any host is taken")
	}
}
