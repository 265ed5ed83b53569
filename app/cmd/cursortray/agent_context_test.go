//go:build unix

package main

import (
	"os"
	"testing"

	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// The model is told the time zone, as the headers of the calls have it.
func TestAgentIsToldTheTimeZone(t *testing.T) {
	m, sim := loginMachine(t)
	if zone, set := os.LookupEnv("TZ"); set {
		m.env = append(m.env, "TZ="+zone)
	}
	m.loginWithKey(simserver.DefaultKey, "ada@example.com")
	sim.ScriptAlways(simserver.Opening(), simserver.Text("fine"))
	instance := m.serve("serve", "--backend", "agent")
	if status, body := instance.ask("POST", "/v1/chat/completions", testKey, question("auto", "What time is it?", false)); status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	instance.stop()
	env := sim.Runs()[0].Execs[0].Results[0].GetRequestContextResult().GetSuccess().GetRequestContext().GetEnv()
	if want := cursor.TimeZone(); env.GetTimeZone() != want {
		t.Errorf("the time zone is %q, not %q", env.GetTimeZone(), want)
	}
}
