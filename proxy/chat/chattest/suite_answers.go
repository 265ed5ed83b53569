package chattest

import (
	"sync"
	"testing"

	"cursortray/proxy/chat"
)

func answers() []check {
	return []check{
		{name: "Models", free: true, run: checkModels},
		{name: "Check", free: true, run: checkCheck},
		{name: "Stream", run: checkStream},
		{name: "UnknownFigures", run: checkUnknownFigures},
		{name: "NothingBeforeTheLoop", free: true, run: checkLazy},
		{name: "Parallel", run: checkParallel},
	}
}

func checkModels(s *suite, t *testing.T) {
	b := s.start(t, Script{}).Backend
	models, err := b.Models(t.Context())
	if err != nil {
		t.Fatalf("Models: %v", err)
	}
	seen, defaults := map[string]bool{}, 0
	for _, m := range models {
		if m.ID == "" || m.Name == "" || seen[m.ID] {
			t.Errorf("model %+v: id and name must be there, the id once", m)
		}
		seen[m.ID] = true
		if m.Default {
			defaults++
		}
	}
	if len(models) == 0 || defaults > 1 {
		t.Errorf("%d models, %d of them the default", len(models), defaults)
	}
	clear(models) // callers own the slice
	again, err := b.Models(t.Context())
	if err != nil || len(again) != len(models) || again[0].ID == "" {
		t.Errorf("the second list is %v, %v after the caller changed the first", again, err)
	}
}

func checkCheck(s *suite, t *testing.T) {
	if err := s.start(t, Script{}).Backend.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// The pieces hold characters of several bytes and repeat each other, so that
// neither cutting nor removal of what looks alike goes unnoticed.
func checkStream(s *suite, t *testing.T) {
	used := chat.Usage{Input: 12, CacheRead: 30, Output: 7}
	script := Script{Answer: []Move{
		Say{"Grüße"}, Say{", 世界"}, Say{" 🌍"}, Say{" ha"}, Say{" ha"}, Say{" ha"}, Say{"\n\n"}, Say{"- end\n"},
	}}
	if !s.NoReasoning {
		script.Answer = append([]Move{Think{"Let me "}, Think{"seé."}}, script.Answer...)
	}
	if !s.NoUsage {
		script.Answer = append(script.Answer, Report{used})
	}
	instance := s.start(t, script)
	tr := s.turn(t, instance.Backend, s.request())
	if got, want := tr.text(), "Grüße, 世界 🌍 ha ha ha\n\n- end\n"; got != want {
		t.Errorf("1: the text is %q, want %q", got, want)
	}
	if got, want := tr.reasoning(), "Let me seé."; !s.NoReasoning && got != want {
		t.Errorf("1: the reasoning is %q, want %q", got, want)
	}
	finish := tr.finish()
	if finish == nil {
		t.Fatalf("3: the turn ended with %v", tr.err())
	}
	if finish.Reason != chat.Stop {
		t.Errorf("the reason is %d, want Stop", finish.Reason)
	}
	if !s.NoUsage && (finish.Usage == nil || *finish.Usage != used) {
		t.Errorf("4: the usage is %+v, want %+v", finish.Usage, used)
	}
	s.settled(t, instance, "the end of a turn")
}

func checkUnknownFigures(s *suite, t *testing.T) {
	b := s.start(t, Script{Answer: []Move{Say{"Fine."}}}).Backend
	finish := s.turn(t, b, s.request()).finish()
	if finish == nil {
		t.Fatal("3: no Finish")
	}
	if finish.Usage != nil || finish.Context != nil {
		t.Errorf("4: figures out of nothing: usage %+v, context %+v", finish.Usage, finish.Context)
	}
}

func checkLazy(s *suite, t *testing.T) {
	instance := s.start(t, Script{Answer: []Move{Hang{}}})
	_ = instance.Backend.Chat(t.Context(), s.request())
	if n := instance.live(); n != 0 {
		t.Errorf("%d upstream runs though nothing was ranged over", n)
	}
}

func checkParallel(s *suite, t *testing.T) {
	b := s.start(t, Script{Answer: []Move{Say{"one "}, Say{"two "}, Say{"three"}}}).Backend
	var turns sync.WaitGroup
	for range 6 {
		turns.Go(func() {
			tr := s.turn(t, b, s.request())
			if tr.text() != "one two three" || tr.finish() == nil {
				t.Errorf("one of several turns gave %q, %v", tr.text(), tr.err())
			}
		})
	}
	turns.Wait()
}
