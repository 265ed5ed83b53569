package simserver

import (
	"slices"
	"testing"

	"cursortray/proxy/cursor/cursorpb"
)

// TestTroubles: each hits its run, and the next run is as if nothing had been.
func TestTroubles(t *testing.T) {
	s := start(t, Options{})
	troubles := Troubles()
	if len(troubles) < 40 {
		t.Errorf("%d troubles", len(troubles))
	}
	breaks := streamTroubles()
	for name, trouble := range troubles {
		if err := s.Prepare(trouble, false); err != nil {
			t.Fatal(err)
		}
		b := newBare(t, s)
		b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
			if text := m.GetInteractionUpdate().GetTextDelta(); text != nil && (name == "silence" || name == "nothing but heartbeats") {
				run.text += text.GetText()
				run.leave()
				return true
			}
			return false
		}
		got := b.run("Hi")
		_, broken := breaks[name]
		switch {
		case len(trouble.Steps) == 0 || Failures()[name] != nil:
			if got.err == nil {
				t.Errorf("%s: no error", name)
			}
		case broken && got.ended != nil:
			t.Errorf("%s: a good end", name)
		case got.err == nil && got.ended != nil && got.text != "so farthe end":
			t.Errorf("%s: text %q", name, got.text)
		}
		s.Script(Text("as usual"))
		if after := newBare(t, s).run("Hi"); after.text != "as usual" || after.err != nil {
			t.Errorf("after %s: text %q, error %v", name, after.text, after.err)
		}
	}
	if n := s.ScriptsLeft(); n != 0 {
		t.Errorf("%d scripts were not played", n)
	}
	ctx := t.Context()
	if err := s.AwaitRuns(ctx, func(stats RunStats) bool { return stats.Open == 0 }); err != nil {
		t.Fatal(err)
	}
	// connect ends its half after any error it receives; whether the run still
	// sees that is a matter of time.
	rules := slices.DeleteFunc(broken(t, s), func(rule string) bool { return rule == "half-close" })
	if len(rules) > 0 {
		t.Errorf("broken rules %q: %v", rules, s.Violations())
	}
}
