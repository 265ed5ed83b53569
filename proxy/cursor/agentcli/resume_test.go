package agentcli

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

func resuming(c *Config) { c.Resume = true }

// goOn adds the answer and the user's next words to a conversation.
func goOn(req *chat.Request, answer, words string) *chat.Request {
	next := *req
	next.Messages = append(slices.Clone(req.Messages),
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{chat.Text{Text: answer}}},
		chat.Message{Role: chat.User, Parts: []chat.Part{chat.Text{Text: words}}})
	return &next
}

// TestRS6_ConversationIsContinued: the second turn sends only what is new, and
// the CLI reports cached tokens.
func TestRS6_ConversationIsContinued(t *testing.T) {
	for _, linger := range []bool{false, true} {
		r := newRig(t, agentsim.Script{Chats: t.TempDir(), RecordPrompt: true, Linger: linger}, resuming)
		first := userSays(strings.Repeat("A long first message. ", 50))
		answer := r.answer(t, first)
		second := r.answer(t, goOn(first, answer.Text, "And now?"))
		runs := r.runs(t)
		if len(runs) != 2 || argAfter(runs[1].Argv, "--resume") == "" || runs[0].Cwd != runs[1].Cwd {
			t.Fatalf("runs %+v", runs)
		}
		if prompt := runs[1].Prompt; strings.Contains(prompt, "long first") || !strings.Contains(prompt, "And now?") {
			t.Errorf("second prompt %q", prompt)
		}
		if u := second.Finish.Usage; u == nil || u.CacheRead == 0 {
			t.Errorf("usage %+v", u)
		}
		if n := len(r.talks.list); n != 1 {
			t.Errorf("%d chats are kept", n)
		}
	}
}

func TestResumeOfAToolLoop(t *testing.T) {
	r := newRig(t, agentsim.Script{Chats: t.TempDir(), RecordPrompt: true}, resuming)
	req := userSays("Read the file /abs/a.txt and tell me its first line")
	req.Tools = []chat.Tool{{Name: "read", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	call := r.answer(t, req).Calls[0]
	req.Messages = append(req.Messages,
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{chat.ToolUse{ID: call.ID, Name: call.Name, Arguments: string(call.Arguments)}}},
		chat.Message{Role: chat.User, Parts: []chat.Part{chat.ToolResult{CallID: call.ID, Content: []chat.Part{chat.Text{Text: "mark 17"}}}}})
	if got := r.answer(t, req); !strings.Contains(got.Text, "mark 17") {
		t.Errorf("answer %+v", got)
	}
	if run := r.runs(t)[1]; argAfter(run.Argv, "--resume") == "" || strings.Contains(run.Prompt, "first line") {
		t.Errorf("run %+v", run)
	}
}

// TestNoResume: whatever differs from what the chat has heard starts a fresh one.
func TestNoResume(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script agentsim.Script
		off    bool
		change func(*chat.Request)
	}{
		{name: "switched off", off: true},
		{name: "edited history", change: func(r *chat.Request) { r.Messages[0].Parts = []chat.Part{chat.Text{Text: "Other words."}} }},
		{name: "summary instead of history", change: func(r *chat.Request) { r.Messages = r.Messages[2:] }},
		{name: "other model", change: func(r *chat.Request) { r.Model = "composer-2" }},
		{name: "other tools", change: func(r *chat.Request) { r.Tools = []chat.Tool{{Name: "read"}} }},
		{name: "other rules", change: func(r *chat.Request) { r.System = "Be brief." }},
		{name: "a picture", change: func(r *chat.Request) {
			r.Messages[2].Parts = append(r.Messages[2].Parts, chat.Image{MIME: "image/png", Data: []byte("png")})
		}},
		{name: "chat is gone", script: agentsim.Script{LostChats: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.script.Chats, tt.script.RecordPrompt = t.TempDir(), true
			r := newRig(t, tt.script, resuming, func(c *Config) { c.Resume = !tt.off })
			first := hello()
			next := goOn(first, r.answer(t, first).Text, "And now?")
			if tt.change != nil {
				tt.change(next)
			}
			r.answer(t, next)
			runs := r.runs(t)
			last := runs[len(runs)-1]
			if slices.Contains(last.Argv, "--resume") || !strings.HasPrefix(last.Prompt, "SYSTEM:") {
				t.Errorf("run %+v", last)
			}
		})
	}
}

// TestOneRunPerChat: the same turn twice at once is one continuation and one
// fresh chat.
func TestOneRunPerChat(t *testing.T) {
	r := newRig(t, agentsim.Script{Chats: t.TempDir(), Interval: time.Millisecond}, resuming)
	first := hello()
	next := goOn(first, r.answer(t, first).Text, "And now?")
	done := make(chan error)
	for range 2 {
		go func() {
			_, err := chat.Collect(r.Chat(t.Context(), next))
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	resumed := 0
	for _, run := range r.runs(t) {
		if slices.Contains(run.Argv, "--resume") {
			resumed++
		}
	}
	if resumed != 1 {
		t.Errorf("%d runs continued the chat", resumed)
	}
}

func TestTalksAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s talks
		dir := t.TempDir()
		add := func(name string) *workspace {
			place := &workspace{dir: dir + "/" + name, own: true}
			if err := os.Mkdir(place.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s.put(&talk{key: talkKey{model: name}, place: place})
			return place
		}
		exists := func(w *workspace) bool { _, err := os.Stat(w.dir); return err == nil }
		oldest := add("oldest")
		time.Sleep(time.Minute)
		for i := range maxTalks {
			add(strings.Repeat("x", i+1))
		}
		if len(s.list) != maxTalks || exists(oldest) {
			t.Errorf("%d chats, the oldest folder exists: %v", len(s.list), exists(oldest))
		}
		time.Sleep(talkAge + time.Second)
		if s.take(talkKey{model: "x"}, digest{}, digest{}) != nil || len(s.list) != 0 {
			t.Errorf("%d chats after their time", len(s.list))
		}
	})
}

func TestTalkIDs(t *testing.T) {
	for id, good := range map[string]bool{"c1": true, "8f3a-01_x": true, "--force": false, "-x": false, "a b": false, "": false, "a/b": false} {
		if talkID().MatchString(id) != good {
			t.Errorf("id %q", id)
		}
	}
}

func TestChatGone(t *testing.T) {
	for _, tt := range []struct {
		class, reason string
		gone          bool
	}{
		{classUnknown, "Error: chat c1 not found", true},
		{classUpstream, "Session expired", true},
		{classUnknown, "Could not resume", true},
		{classUnknown, "segmentation fault", false},
		{classAuth, "session expired: not logged in", false},
		{classNetwork, "conversation: ECONNRESET, missing answer", false},
	} {
		if got := chatGone(&failure{class: tt.class, reason: tt.reason}); got != tt.gone {
			t.Errorf("%s, %s: %v", tt.class, tt.reason, got)
		}
	}
}
