package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// gate collects what a server turned away.
type gate struct {
	mu   sync.Mutex
	told []TurnedAway
}

func (g *gate) note(t TurnedAway) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = append(g.told, t)
}

func (g *gate) list() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []string
	for _, t := range g.told {
		list = append(list, fmt.Sprintf("%s %s %s", t.Client.Dialect, t.Client.Key, t.Outcome))
	}
	slices.Sort(list)
	return list
}

func (g *gate) config(cfg *Config) {
	editorsKeys(cfg)
	cfg.TurnedAway = g.note
}

// routesOfModels are the routes that ask for a model.
var routesOfModels = map[string]string{
	"/v1/chat/completions": chat.DialectChat, "/responses": chat.DialectResponses, "/v1/v1/messages": chat.DialectMessages,
}

func TestRequestsThatAreTurnedAwayAreTold(t *testing.T) {
	codex := with("Authorization", "Bearer codex-key")
	for _, c := range []struct {
		name    string
		body    string
		set     func(*http.Request)
		editor  string
		outcome map[string]string // by dialect, "" for all
	}{
		{"no JSON", `{"model`, codex, "codex", nil},
		{"no model's request", `[]`, codex, "codex", nil},
		{"switched off", ask, with("Authorization", "Bearer zed-key"), "zed", map[string]string{"": "editor_switched_off"}},
		{"another type", ask, with("Content-Type", "text/plain"), "", map[string]string{"": "unsupported_media_type"}},
		{"large", `{"model":"` + strings.Repeat("m", 2000) + `"}`, codex, "codex", map[string]string{"": "too_large"}},
		{"a workspace that is none", ask, with("X-Cursortray-Workspace", "/"), "", nil},
	} {
		for path, dialect := range routesOfModels {
			t.Run(c.name+"/"+dialect, func(t *testing.T) {
				g := &gate{}
				p := serveOn(t, "127.0.0.1:0", hello(), g.config, func(s *Server) { s.maxBody = 1000 })
				body := c.body
				if dialect == chat.DialectResponses && body == ask {
					body = `{"model":"fake","input":"hi","store":false}`
				}
				response, text := p.call("POST", path, body, c.set)
				if response.StatusCode < 400 {
					t.Fatalf("%d %s", response.StatusCode, text)
				}
				p.close()
				list := g.list()
				if len(list) != 1 || !strings.HasPrefix(list[0], dialect+" "+c.editor+" ") {
					t.Fatalf("told is %q", list)
				}
				outcome := list[0][strings.LastIndexByte(list[0], ' ')+1:]
				if want := c.outcome[""]; want != "" && outcome != want || outcome == "" || outcome == "ok" {
					t.Errorf("the outcome is %q, want %q", outcome, want)
				}
				if p.backend.Last() != nil {
					t.Error("the back-end was asked")
				}
			})
		}
	}
}

func TestRequestsThatFindNoSlotAreTold(t *testing.T) {
	g, busy := &gate{}, make(chan int, 10)
	p := serve(t, chattest.Turn{chattest.Text("x"), chattest.Silence()}, func(cfg *Config) {
		g.config(cfg)
		cfg.MaxStreams = 1
		cfg.Activity = func(active int) { busy <- active }
	})
	first := p.do(p.request("POST", "/v1/messages", askLive, nil))
	defer first.Body.Close()
	<-busy
	p.call("POST", "/v1/messages", ask, with("Authorization", "Bearer codex-key"))
	eventually(t, "it is told", func() bool { return len(g.list()) > 0 })
	first.Body.Close()
	p.close()
	// The first one reached the back-end, and is the back-end's to tell.
	if list := g.list(); !slices.Equal(list, []string{"messages codex overloaded"}) {
		t.Errorf("told is %q", list)
	}
}

// A client that leaves while it sends has asked as well.
func TestABodyThatBreaksOffIsTold(t *testing.T) {
	g := &gate{}
	p := serve(t, hello(), g.config)
	conn := p.dial()
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer codex-key\r\n"+
		"Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"model\":")
	conn.Close()
	eventually(t, "it is told", func() bool { return len(g.list()) > 0 })
	if list := g.list(); !slices.Equal(list, []string{"chat codex canceled"}) {
		t.Errorf("told is %q", list)
	}
}

// Requests of nobody, other routes and those that the back-end answered, or
// failed, are not told.
func TestOtherRequestsAreNotTold(t *testing.T) {
	g := &gate{}
	p := serve(t, hello(), g.config)
	for path, dialect := range routesOfModels {
		body := ask
		if dialect == chat.DialectResponses {
			body = `{"model":"fake","input":"hi","store":false}`
		}
		for status, set := range map[int]func(*http.Request){
			200: nil,
			401: with("Authorization", "Bearer of nobody"),
			403: with("Origin", "https://evil.example"),
		} {
			if response, text := p.call("POST", path, body, set); response.StatusCode != status {
				t.Fatalf("%s: %d %s, want %d", path, response.StatusCode, text, status)
			}
		}
		p.call("GET", path, "", nil)
		p.call("OPTIONS", path, "", nil)
	}
	p.call("POST", "/v1/messages/count_tokens", "{", nil)
	p.call("GET", "/v1/models", "", with("Authorization", "Bearer zed-key"))
	p.call("POST", "/v1/nothing", "{", nil)
	p.close()
	failing := serve(t, chattest.Turn{chattest.Fail(chat.Errorf(chat.QuotaSpent, "used up"))}, g.config)
	failing.call("POST", "/v1/messages", ask, nil)
	panicking := serve(t, chattest.Turn{chattest.Panic("boom")}, g.config)
	panicking.call("POST", "/v1/messages", ask, nil)
	failing.close()
	panicking.close()
	if list := g.list(); len(list) > 0 {
		t.Errorf("told is %q", list)
	}
}
