package simserver

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

func TestDemoCallsAToolAndGoesOn(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s).offer("read", readSchema)
	first := b.run("Read the file /abs/a.txt and tell me its first line")
	if first.err != nil || first.ended == nil {
		t.Fatalf("the run failed: %v; kinds %q", first.err, first.kinds)
	}
	if len(first.calls) != 1 || first.calls[0].GetToolName() != "read" || first.calls[0].GetName() != "mcp_cursortray_read" {
		t.Errorf("calls: %v", first.calls)
	}
	if !strings.Contains(first.text, "The first line is: first line") || first.thinking == "" {
		t.Errorf("text %q, thinking %q", first.text, first.thinking)
	}
	var state cursorpb.ConversationStateStructure
	if err := proto.Unmarshal(b.state, &state); err != nil {
		t.Fatal(err)
	}
	if n := len(state.GetRootPromptMessagesJson()); n != 4 {
		t.Errorf("%d messages in the state, want 4", n)
	}
	details := state.GetTokenDetails()
	sum := uint32(0)
	for _, c := range details.GetBreakdown().GetCategories() {
		sum += c.GetEstimatedTokens()
	}
	if details.GetUsedTokens() == 0 || details.GetUsedTokens() != sum || details.GetMaxTokens() != 200_000 {
		t.Errorf("token details %v", details)
	}
	if u := first.ended; u.GetInputTokens() == 0 || u.GetOutputTokens() == 0 || u.GetReasoningTokens() == 0 {
		t.Errorf("counters %v", u)
	}

	second := b.run("And who are you?")
	if second.err != nil || second.ended == nil || second.text == "" {
		t.Fatalf("the second turn failed: %v; kinds %q", second.err, second.kinds)
	}
	var later cursorpb.ConversationStateStructure
	if err := proto.Unmarshal(b.state, &later); err != nil {
		t.Fatal(err)
	}
	if len(later.GetTurns()) != 2 || later.GetTokenDetails().GetUsedTokens() <= details.GetUsedTokens() {
		t.Errorf("the state did not grow: %v", &later)
	}
	records := awaitEnd(t, s, 2)
	if records[0].Outcome != OutcomeEnded || records[1].Outcome != OutcomeEnded {
		t.Errorf("outcomes %s, %s", records[0].Outcome, records[1].Outcome)
	}
	wantRules(t, s)
}

func TestJSONRule(t *testing.T) {
	for rule, want := range map[string]string{
		"Be brief.": "false ",
		"Be brief.\n\nAnswer with one JSON object and nothing else: no prose.":                         "true ",
		"Answer with one JSON value. It must match this JSON Schema: {\"type\":\"object\"}":            `true {"type":"object"}`,
		"Answer with one JSON value. It must match this JSON Schema: {\"type\":\"object\"}\nBe brief.": `true {"type":"object"}`,
		"Answer with one JSON value. It must match this JSON Schema: {\"ty":                            "true ",
	} {
		asked, schema := jsonRule(rule)
		if got := fmt.Sprintf("%v %s", asked, schema); got != want {
			t.Errorf("%q: %s, want %s", rule, got, want)
		}
	}
}

func TestScriptedRun(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s).offer("echo", readSchema)
	s.Script(
		Opening(), Thinking("hm"), ThinkingDone(0), Text("Hel"), Text("lo"), Notice("maintenance"), TokenDelta(5),
		Call("echo", `{"text":"hi","n":3}`),
		Tell(func(r *Run) string { return " " + r.Last().Text() }),
		Saved(1234, 200_000, "a blob"),
		End(Count(100, 20, 60, 0, 7)),
	)
	b.result = func(*cursorpb.McpArgs) string { return "ok" }
	got := b.run("Hi")
	if got.err != nil || got.text != "Hello ok" || got.thinking != "hm" || got.notices != "maintenance" {
		t.Errorf("text %q, thinking %q, notices %q, error %v", got.text, got.thinking, got.notices, got.err)
	}
	if got.ended.GetInputTokens() != 100 || got.ended.GetReasoningTokens() != 7 {
		t.Errorf("counters %v", got.ended)
	}
	if string(b.blobs[string(BlobID([]byte("a blob")))]) != "a blob" || len(got.checkpoints) != 1 {
		t.Errorf("blobs %v, checkpoints %d", b.blobs, len(got.checkpoints))
	}
	wantRules(t, s)
}

func TestScriptedError(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	s.Script(Text("so far"), Fail(Failure("usage limit")))
	got := b.run("Hi")
	if got.text != "so far" || got.err == nil || got.ended != nil || !strings.Contains(got.err.Error(), "resource_exhausted") {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	wantRules(t, s)
}
