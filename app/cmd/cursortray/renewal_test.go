//go:build unix

package main

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// renewals counts how often a login was renewed, by whatever way.
func renewals(sim *simserver.Sim) int {
	n := 0
	for _, path := range []string{simserver.PathExchange, simserver.PathToken, simserver.PathRefresh} {
		n += sim.Calls(path)
	}
	return n
}

// Many clients that find the login run out, or refused, cost one renewal, and
// all of them get their answer.
func TestAU1_ManyRequestsRenewOnce(t *testing.T) {
	const clients = 50
	for name, spoil := range map[string]func(*simserver.Sim){
		"run out": nil,
		"refused": func(sim *simserver.Sim) { sim.RevokeAccess(simserver.DefaultUser) },
	} {
		t.Run(name, func(t *testing.T) {
			m, sim := loginMachine(t)
			m.env = append(m.env, "CURSORTRAY_AGENT_MAX_RUNS=64")
			sim.ChangeRunRules(func(r *simserver.RunRules) { r.MaxOpen = 64 })
			change(t, sim, func(s *simserver.Settings) {
				if s.AutoConfirm = true; spoil == nil {
					s.AccessLifetime = time.Second
				}
			})
			m.must("login", "--no-browser")
			change(t, sim, func(s *simserver.Settings) { s.AccessLifetime = time.Hour })
			// The renewal takes long enough for everybody to meet it.
			if err := sim.Inject(simserver.Fault{Kind: simserver.FaultLatency, Route: "/auth/*", Delay: 2 * time.Second}); err != nil {
				t.Fatal(err)
			}
			if spoil == nil {
				sim.Forget()
			}
			instance := m.serve("serve")
			if spoil != nil {
				if text := m.must("usage"); !strings.Contains(text, "28.6%") { // all that a start asks for is answered
					t.Errorf("usage says %s", text)
				}
				sim.Forget()
				spoil(sim)
			}
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					resp, err := instance.send("POST", "/v1/chat/completions", testKey, question("auto", "hello", false))
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					if resp.StatusCode != http.StatusOK {
						t.Errorf("status %d", resp.StatusCode)
					}
				})
			}
			all.Wait()
			if n := renewals(sim); n != 1 {
				t.Errorf("%d renewals, want one", n)
			}
			if n := sim.Calls(simserver.RunPath); n < clients {
				t.Errorf("%d runs for %d requests", n, clients)
			}
			instance.stop()
		})
	}
}
