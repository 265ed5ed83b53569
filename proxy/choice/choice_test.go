package choice

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a choice between two scripted ways.
type bench struct {
	*Backend
	agent, cli       *chattest.Backend
	agentErr, cliErr error // what their Ready says
	asked            int   // how often the CLI was asked
}

func newBench(t *testing.T, setting string, agentErr, cliErr error, turns ...chattest.Turn) *bench {
	t.Helper()
	if len(turns) == 0 {
		turns = []chattest.Turn{{chattest.Text("hi"), chattest.Finish(chat.Stop)}}
	}
	b := &bench{agent: chattest.New(turns...), cli: chattest.New(turns...), agentErr: agentErr, cliErr: cliErr}
	b.Backend = New(Config{Setting: setting, Ways: []Way{
		{ID: "agent", Name: "Cursor protocol", Backend: b.agent, Reason: "logged in",
			Ready: func(context.Context) error { return b.agentErr }},
		{ID: "cli", Name: "cursor-agent", Backend: b.cli, Reason: "logged in there", Trust: time.Hour,
			Ready: func(context.Context) error { b.asked++; return b.cliErr }},
	}})
	t.Cleanup(func() { b.Close() })
	return b
}

func loggedOut() error { return &chat.Error{Kind: chat.LoginRequired, Code: "cursor_login_required"} }
func absent() error    { return chat.Errorf(chat.Unavailable, "cursor-agent was not found") }

// who tells which of the two got one more request.
func (b *bench) who(t *testing.T, req *chat.Request) string {
	t.Helper()
	agent, cli := len(b.agent.Requests()), len(b.cli.Requests())
	_, err := chat.Collect(b.Chat(t.Context(), req))
	switch {
	case len(b.agent.Requests()) > agent:
		return "agent"
	case len(b.cli.Requests()) > cli:
		return "cli"
	case err == nil:
		t.Fatal("an answer from nobody")
	}
	return chat.AsError(err).Kind.String()
}

func user(text string) chat.Message {
	return chat.Message{Role: chat.User, Parts: []chat.Part{chat.Text{Text: text}}}
}

func assistant(parts ...chat.Part) chat.Message {
	return chat.Message{Role: chat.Assistant, Parts: parts}
}

func ask(messages ...chat.Message) *chat.Request {
	return &chat.Request{Model: "m", Messages: messages, Tools: []chat.Tool{{Name: "read"}}}
}

func TestWhoIsChosen(t *testing.T) {
	locked := chat.Errorf(chat.Unavailable, "the keychain is locked")
	login, busy := chat.LoginRequired.String(), chat.Unavailable.String()
	for name, c := range map[string]struct {
		setting          string
		agentErr, cliErr error
		want             string
		choice           Choice
	}{
		"logged in":         {Auto, nil, nil, "agent", Choice{Auto, "agent", "Cursor protocol", "logged in"}},
		"without the CLI":   {Auto, nil, absent(), "agent", Choice{Auto, "agent", "Cursor protocol", "logged in"}},
		"CLI only":          {Auto, loggedOut(), nil, "cli", Choice{Auto, "cli", "cursor-agent", "logged in there"}},
		"locked, CLI":       {Auto, locked, nil, "cli", Choice{Auto, "cli", "cursor-agent", "logged in there"}},
		"nothing":           {Auto, loggedOut(), absent(), login, Choice{Auto, "agent", "Cursor protocol", "nobody is logged in"}},
		"both logged out":   {Auto, loggedOut(), loggedOut(), login, Choice{Auto, "agent", "Cursor protocol", "nobody is logged in"}},
		"locked, nothing":   {Auto, locked, absent(), busy, Choice{Auto, "agent", "Cursor protocol", "no back-end can be used"}},
		"agent by the user": {"agent", loggedOut(), nil, "agent", Choice{"agent", "agent", "Cursor protocol", "set by the user"}},
		"CLI by the user":   {"cli", nil, absent(), "cli", Choice{"cli", "cli", "cursor-agent", "set by the user"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.setting, c.agentErr, c.cliErr)
			if got := b.who(t, ask(user("hello"))); got != c.want {
				t.Errorf("%s answered, want %s", got, c.want)
			}
			if got := b.Now(); got != c.choice {
				t.Errorf("the choice is %+v, want %+v", got, c.choice)
			}
		})
	}
}

// TestNeverSwitchedInTheMiddle: whatever is chosen for others, the next turn of
// a conversation goes where it began.
func TestNeverSwitchedInTheMiddle(t *testing.T) {
	withCall := chattest.Turn{chattest.Text("I look.\n"), chattest.Call("call_1", "read", `{}`), chattest.Finish(chat.ToolCalls)}
	result := chat.Message{Role: chat.User, Parts: []chat.Part{chat.ToolResult{CallID: "call_1", Content: []chat.Part{chat.Text{Text: "x"}}}}}
	begin := user("hello there")
	for name, c := range map[string]struct {
		session string
		next    *chat.Request
		stays   bool
	}{
		"result of a call":        {"", ask(begin, assistant(chat.ToolUse{ID: "call_1", Name: "read"}), result), true},
		"result without its call": {"", ask(begin, result), true},
		"answer in the history":   {"", ask(begin, assistant(chat.Text{Text: "I look."}), user("and then?")), true},
		"answer further back":     {"", ask(begin, assistant(chat.Text{Text: " I  look.\n"}), user("a"), assistant(chat.Text{Text: "of another"}), user("b")), true},
		"client's own id":         {"s1", ask(user("of another kind")), true},
		"another beginning":       {"", ask(user("hello here"), assistant(chat.Text{Text: "I look."}), user("and then?")), false},
		"a new conversation":      {"", ask(begin), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Auto, loggedOut(), nil, withCall)
			first := ask(begin)
			first.Session, c.next.Session = c.session, c.session
			if got := b.who(t, first); got != "cli" {
				t.Fatalf("the first turn went to %s", got)
			}
			b.agentErr = nil // somebody logs in
			want := "agent"
			if c.stays {
				want = "cli"
			}
			if got := b.who(t, c.next); got != want {
				t.Errorf("after a login the next turn went to %s, want %s", got, want)
			}
			b.Fix("agent")
			if got := b.who(t, c.next); got != want {
				t.Errorf("after a change of the setting it went to %s, want %s", got, want)
			}
		})
	}
}

func TestConversationIsForgotten(t *testing.T) {
	b := newBench(t, Auto, loggedOut(), nil)
	b.who(t, ask(user("hello")))
	b.agentErr = nil
	b.memory.life = 0
	if got := b.who(t, ask(user("hello"), assistant(chat.Text{Text: "hi"}), user("more"))); got != "agent" {
		t.Errorf("a conversation of long ago went to %s", got)
	}
	b.memory.mu.Lock()
	defer b.memory.mu.Unlock()
	for i := range maxKeys + 10 {
		b.memory.put(key(i), talk{})
	}
	if n := len(b.memory.keys); n != maxKeys || b.memory.order.Len() != n {
		t.Errorf("%d keys are kept", n)
	}
}

// TestConversationHasAName: figures of its turns can be put together on a way
// that has no names of its own.
func TestConversationHasAName(t *testing.T) {
	b := newBench(t, "cli", nil, nil)
	name := func(req *chat.Request) string {
		r, err := chat.Collect(b.Chat(t.Context(), req))
		if err != nil || r.Finish.Conversation == "" {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.Finish.Conversation
	}
	first := name(ask(user("hello")))
	if again := name(ask(user("hello"), assistant(chat.Text{Text: "hi"}), user("more"))); again != first {
		t.Errorf("the next turn belongs to %s, the first to %s", again, first)
	}
	if other := name(ask(user("good day"))); other == first {
		t.Error("another conversation has the same name")
	}
}

func TestWayIsAskedAgainAfterAFailure(t *testing.T) {
	b := newBench(t, Auto, loggedOut(), nil, chattest.Turn{chattest.Text("hi"), chattest.Finish(chat.Stop)}, chattest.Turn{chattest.Fail(chat.Errorf(chat.LoginRequired, "out"))})
	for range 3 {
		b.who(t, ask(user("hello")))
	}
	if b.asked != 2 { // before the first request, and after the second one failed
		t.Errorf("the CLI was asked %d times, want 2", b.asked)
	}
}

func TestModelsAndCheckFollowTheChoice(t *testing.T) {
	b := newBench(t, Auto, loggedOut(), nil)
	b.agent.SetModels([]chat.Model{{ID: "of-agent"}}, nil)
	b.cli.SetModels([]chat.Model{{ID: "of-cli"}}, nil)
	b.cli.SetCheck(absent())
	models, err := b.Models(t.Context())
	if err != nil || models[0].ID != "of-cli" {
		t.Errorf("models %v, %v", models, err)
	}
	if err := chat.AsError(b.Check(t.Context())); err == nil || err.Kind != chat.Unavailable {
		t.Errorf("check: %v", err)
	}
	b.agentErr = nil
	if models, err = b.Models(t.Context()); err != nil || models[0].ID != "of-agent" {
		t.Errorf("after a login: models %v, %v", models, err)
	}
	if err := b.Check(t.Context()); err != nil {
		t.Errorf("after a login: check: %v", err)
	}
	b.Close()
	if err := chat.AsError(b.Check(t.Context())); err == nil || err.Kind != chat.ShuttingDown {
		t.Errorf("after Close: %v", err)
	}
}
