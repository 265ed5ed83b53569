package simserver

import (
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// Step is a part of a script, or a whole one: it plays on a run, in the run's
// own goroutine, and may do there whatever a Run can. Its error ends the run: a
// *RunError as the last envelope, those of the steps that break off in their
// way, and the end of the run's context without any word.
type Step func(*Run) error

// Steps is a script: one step after the other.
func Steps(steps ...Step) Step {
	return func(r *Run) error {
		for _, step := range steps {
			if err := step(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// Script gives the next run that has none yet its script. A script that ends
// without End ends the turn well. When all scripts are used up, runs play the
// standing one.
func (s *Sim) Script(steps ...Step) {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	s.runs.scripts = append(s.runs.scripts, Steps(steps...))
}

// ScriptAlways sets the script of all runs that have none of their own. Without
// steps it is Demo again.
func (s *Sim) ScriptAlways(steps ...Step) {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	s.runs.standing = nil
	if len(steps) > 0 {
		s.runs.standing = Steps(steps...)
	}
}

// ScriptsLeft counts the scripts that no run has taken.
func (s *Sim) ScriptsLeft() int {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	return len(s.runs.scripts)
}

func (s *Sim) nextScript() Step {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	if len(s.runs.scripts) > 0 {
		next := s.runs.scripts[0]
		s.runs.scripts = s.runs.scripts[1:]
		return next
	}
	if s.runs.standing != nil {
		return s.runs.standing
	}
	return Demo()
}

// Text is a piece of the answer.
func Text(text string) Step {
	return update(func() *cursorpb.InteractionUpdate {
		return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TextDelta{TextDelta: &cursorpb.TextDeltaUpdate{Text: text}}}
	})
}

// Notice is text of the service, which is no part of the answer.
func Notice(text string) Step {
	return update(func() *cursorpb.InteractionUpdate {
		return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TextDelta{TextDelta: &cursorpb.TextDeltaUpdate{Text: text, IsServerNotice: true}}}
	})
}

// Thinking is a piece of reasoning.
func Thinking(text string) Step {
	return update(func() *cursorpb.InteractionUpdate {
		return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_ThinkingDelta{ThinkingDelta: &cursorpb.ThinkingDeltaUpdate{Text: text}}}
	})
}

// ThinkingDone ends a stretch of reasoning.
func ThinkingDone(took time.Duration) Step {
	return update(func() *cursorpb.InteractionUpdate {
		return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_ThinkingCompleted{
			ThinkingCompleted: &cursorpb.ThinkingCompletedUpdate{ThinkingDurationMs: int32(took.Milliseconds())},
		}}
	})
}

// TokenDelta counts tokens of output.
func TokenDelta(n int) Step {
	return func(r *Run) error {
		r.mu.Lock()
		r.used += n
		r.mu.Unlock()
		return r.Update(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TokenDelta{TokenDelta: &cursorpb.TokenDeltaUpdate{Tokens: int32(n)}}})
	}
}

// Beat is a heartbeat of the server, besides those that it sends by itself.
func Beat() Step {
	return update(func() *cursorpb.InteractionUpdate {
		return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_Heartbeat{Heartbeat: &cursorpb.HeartbeatUpdate{}}}
	})
}

// Routed names the model that Auto chose.
func Routed(name string) Step {
	return update(func() *cursorpb.InteractionUpdate {
		return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_RoutedModel{RoutedModel: &cursorpb.RoutedModelUpdate{DisplayName: name}}}
	})
}

// Summary is the service's compaction of the conversation.
func Summary(text string) Step {
	return Steps(
		update(func() *cursorpb.InteractionUpdate {
			return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_SummaryStarted{SummaryStarted: &cursorpb.SummaryStartedUpdate{}}}
		}),
		update(func() *cursorpb.InteractionUpdate {
			return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_Summary{Summary: &cursorpb.SummaryUpdate{Summary: text}}}
		}),
		update(func() *cursorpb.InteractionUpdate {
			return &cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_SummaryCompleted{SummaryCompleted: &cursorpb.SummaryCompletedUpdate{}}}
		}),
	)
}

func update(make func() *cursorpb.InteractionUpdate) Step {
	return func(r *Run) error { return r.Update(make()) }
}

// Words sends a text word by word, with a pause after each.
func Words(piece func(string) Step, text string, pause time.Duration) Step {
	return func(r *Run) error {
		for _, word := range strings.SplitAfter(text, " ") {
			if word == "" {
				continue
			}
			if err := Steps(piece(word), Pause(pause))(r); err != nil {
				return err
			}
			r.mu.Lock()
			r.used++
			r.mu.Unlock()
		}
		return nil
	}
}

// Pause waits.
func Pause(d time.Duration) Step {
	return func(r *Run) error { return r.Wait(d) }
}

// Until waits until a channel is closed.
func Until(done <-chan struct{}) Step {
	return func(r *Run) error {
		select {
		case <-done:
			return nil
		case <-r.ctx.Done():
			return r.gone()
		}
	}
}

// Hang waits until the client leaves. The server's heartbeats go on.
func Hang() Step {
	return func(r *Run) error {
		<-r.ctx.Done()
		return r.gone()
	}
}

// Mute stops the server's own heartbeats: what follows is silence.
func Mute() Step {
	return func(r *Run) error {
		r.out.Lock()
		defer r.out.Unlock()
		r.quiet = true
		return nil
	}
}

// Counters are those of turn_ended. A nil one is left out; without Output the
// counted tokens are sent, if there are any.
type Counters struct {
	Input, Output, CacheRead, CacheWrite, Reasoning *int64
}

// Count makes Counters of all five.
func Count(input, output, cacheRead, cacheWrite, reasoning int64) Counters {
	return Counters{&input, &output, &cacheRead, &cacheWrite, &reasoning}
}

func (c Counters) update() *cursorpb.TurnEndedUpdate {
	return &cursorpb.TurnEndedUpdate{InputTokens: c.Input, OutputTokens: c.Output, CacheReadTokens: c.CacheRead, CacheWriteTokens: c.CacheWrite, ReasoningTokens: c.Reasoning}
}

// End says that the turn went well. Steps may follow, such as a late SetBlob or
// Checkpoint.
func End(c Counters) Step {
	return func(r *Run) error { return r.end(c) }
}

// Fail ends the run with an error in its last envelope; see Failure. An error
// with an HTTP status comes before any run: Inject a fault for RunPath.
func Fail(err error) Step {
	return func(*Run) error { return err }
}

// Message sends any message.
func Message(m *cursorpb.AgentServerMessage) Step {
	return func(r *Run) error { return r.Send(proto.CloneOf(m)) }
}
