//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"cursortray/app/control"
)

// TestAllow: a limit of the settings refuses, the command lifts it in the
// running instance, and the ledger has it all.
func TestAllow(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	m.writeConfig("spend_runs_hour = 1\n")
	s := m.serve("serve", "--demo")
	ask := func() (int, string) {
		return s.ask("POST", "/v1/chat/completions", testKey, question("demo-small", "hello", false))
	}
	guard := func() control.Guard {
		var status control.Status
		if err := json.Unmarshal([]byte(m.must("status", "--json")), &status); err != nil {
			t.Fatal(err)
		}
		return status.Guard
	}
	if status, body := ask(); status != 200 {
		t.Fatalf("the first request: %d %s", status, body)
	}
	if status, body := ask(); status != 429 || !strings.Contains(body, "1 run an hour for all editors together") || !strings.Contains(body, "cursortray allow") {
		t.Errorf("at the limit: %d %s", status, body)
	}
	until(t, "the limit shows", func() bool { return guard().Reached == "1 run an hour for all editors together" })
	if out := m.must("status"); !strings.Contains(out, "1 run an hour for all editors together is reached, free again on ") {
		t.Errorf("status tells nothing of it:\n%s", out)
	}
	if out := m.must("allow"); !strings.HasPrefix(out, "no limits until ") {
		t.Errorf("allow says %q", out)
	}
	if g := guard(); g.AllowedUntil == nil || g.Reached != "" {
		t.Errorf("after allow: %+v", g)
	}
	if out := m.must("status"); !strings.Contains(out, "lifted until ") {
		t.Errorf("status after allow:\n%s", out)
	}
	if status, body := ask(); status != 200 {
		t.Errorf("allowed, but %d %s", status, body)
	}
	if out := m.must("allow", "--for", "0s"); out != "the limits hold\n" {
		t.Errorf("allow --for 0s says %q", out)
	}
	if status, body := ask(); status != 429 {
		t.Errorf("after that: %d %s", status, body)
	}
	for _, args := range [][]string{{"--for", "25h"}, {"--for=-1h"}, {"--for", "soon"}} {
		if r := m.run(append([]string{"allow"}, args...)...); r.code != exitUsage {
			t.Errorf("allow %v: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	until(t, "all four are in the ledger", func() bool {
		return strings.Contains(m.must("usage", "--by", "editor", "--csv"), "\n,4,0,0,2,")
	})
	s.stop()
	if r := m.run("allow"); r.code == 0 || !strings.Contains(r.stderr, "no instance is running") {
		t.Errorf("without an instance: %+v", r)
	}
}

// A limit of nobody would look like one that is never reached.
func TestLimitsOfAnEditorThatThereIsNot(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	m.writeConfig("spend_editors = [\"codexx:runs_hour=1\", \"codex:runs_hour=1\", \"main:runs_hour=1\", \"*:runs_hour=1\"]\n")
	s := m.serve("serve", "--demo")
	s.stop()
	if text := m.must("logs"); strings.Count(text, "spend_editors limits an editor that there is not") != 1 || !strings.Contains(text, "editor=codexx") {
		t.Errorf("the log tells nothing of it:\n%s", text)
	}
}
