package agentcli

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

var update = flag.Bool("update", false, "rewrite golden files")

func said(role chat.Role, parts ...chat.Part) chat.Message {
	return chat.Message{Role: role, Parts: parts}
}

func text(s string) chat.Text { return chat.Text{Text: s} }

func use(id, name, args string) chat.ToolUse {
	return chat.ToolUse{ID: id, Name: name, Arguments: args}
}

func answer(id, content string) chat.ToolResult {
	return chat.ToolResult{CallID: id, Content: []chat.Part{text(content)}}
}

func mustPrompt(t *testing.T, req *chat.Request) string {
	t.Helper()
	prompt, err := buildPrompt(req, nil)
	if err != nil {
		t.Fatal(err)
	}
	return prompt
}

// conversation has every kind of message once.
func conversation() *chat.Request {
	return &chat.Request{
		System: "Be brief.\nUse <b>.",
		Tools: []chat.Tool{
			{Name: "read", Description: "Reads a file.\nReturns <text>.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
			{Name: "now"},
		},
		Messages: []chat.Message{
			said(chat.User, text("First"), text("second line")),
			said(chat.Assistant, chat.Reasoning{Text: "hidden"}, text("I look."), use("c1", "read", `{"path":"a"}`), use("c2", "read", "")),
			said(chat.User, answer("c2", "two\n"), chat.ToolResult{CallID: "c1", Failed: true, Content: []chat.Part{text("  1\tone"), text("more")}}),
			said(chat.Assistant),
			said(chat.Assistant, text("")),
			said(chat.User, text("Go on")),
			said(chat.Assistant, use("c3", "now", "{broken")),
			said(chat.User, answer("c3", "noon"), answer("gone", "?")),
		},
	}
}

func TestPrompt(t *testing.T) {
	for name, change := range map[string]func(*chat.Request){
		"conversation": func(*chat.Request) {},
		"plain": func(r *chat.Request) {
			*r = chat.Request{Messages: []chat.Message{said(chat.User, text("/help & more"))}}
		},
		"serial": func(r *chat.Request) { r.SerialTools, r.Messages, r.Choice.Mode = true, r.Messages[:1], chat.ToolAny },
		"named": func(r *chat.Request) {
			r.Messages, r.Choice = r.Messages[:1], chat.ToolChoice{Mode: chat.ToolNamed, Name: "read"}
		},
		"none": func(r *chat.Request) { r.Messages, r.Choice.Mode = r.Messages[:1], chat.ToolNone },
		"json": func(r *chat.Request) { r.Messages, r.Tools, r.Format = r.Messages[:1], nil, chat.Format{JSON: true} },
		"schema": func(r *chat.Request) {
			r.Messages, r.Tools, r.Format = r.Messages[:1], nil, chat.Format{JSON: true, Schema: json.RawMessage(`{"type":"array"}`)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := conversation()
			change(req)
			checkGolden(t, "prompt-"+name, mustPrompt(t, req))
		})
	}
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestPromptIsNoOrder: the CLI takes a prompt that begins with "&" or "/" for
// an order.
func TestPromptIsNoOrder(t *testing.T) {
	for _, start := range []string{"/exit", "&later", ""} {
		req := &chat.Request{System: start, Messages: []chat.Message{said(chat.User, text(start))}}
		if got := mustPrompt(t, req); !strings.HasPrefix(got, "SYSTEM:") {
			t.Errorf("begins with %.10q", got)
		}
		req.Messages[0].Parts[0] = text(start + "x")
		if got, ok := deltaPrompt(req); !ok || !strings.HasPrefix(got, "USER:") {
			t.Errorf("begins with %.10q", got)
		}
	}
}

func TestTC6_DeclaredToolsReachTheModel(t *testing.T) {
	req := &chat.Request{
		Tools:    []chat.Tool{{Name: "write_note", Description: "Keeps a note", Schema: json.RawMessage(`{"type":"object","properties":{"note":{"type":"string"}}}`)}},
		Messages: []chat.Message{said(chat.User, text("Note this"))},
	}
	got := mustPrompt(t, req)
	for _, part := range []string{`"name":"write_note"`, "Keeps a note", `"note":{"type":"string"}`, callOpen, callClose} {
		if !strings.Contains(got, part) {
			t.Errorf("the prompt lacks %q", part)
		}
	}
}

func TestTC9_HistoryKeepsItsPairs(t *testing.T) {
	got := mustPrompt(t, &chat.Request{Messages: []chat.Message{
		said(chat.User, text("q")),
		said(chat.Assistant, use("c1", "read", `{"path":"one"}`), use("c2", "read", `{"path":"two"}`)),
		said(chat.User, answer("c2", "TWO")), said(chat.User, answer("c1", "ONE")), said(chat.User, text("and?")),
	}})
	want := "SYSTEM:\n\nUSER:\nq\n\nASSISTANT:\ntool_call(id: c1, name: read, args: {\"path\":\"one\"})\ntool_call(id: c2, name: read, args: {\"path\":\"two\"})\n\n" +
		"TOOL_RESULT (name: read, call_id: c2):\nTWO\n\nTOOL_RESULT (name: read, call_id: c1):\nONE\n\nUSER:\nand?"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTC10_ResultsKeepTheirBytes(t *testing.T) {
	for _, content := range []string{"     1\tpackage x\r\n     2\t\n", "\n\n <truncated>\n[10 lines cut]", "tab\t\x00 & <b> \u2028 é\n"} {
		got := mustPrompt(t, &chat.Request{Messages: []chat.Message{
			said(chat.User, text("q")), said(chat.Assistant, use("c", "read", "{}")), said(chat.User, answer("c", content)), said(chat.User, text("end")),
		}})
		if !strings.Contains(got, "call_id: c):\n"+content+"\n\nUSER:") {
			t.Errorf("%q is not in %q", content, got)
		}
	}
}

func TestPromptImages(t *testing.T) {
	picture := chat.Image{MIME: "image/png", Data: []byte("png")}
	req := &chat.Request{Messages: []chat.Message{
		said(chat.User, text("What is this?"), picture),
		said(chat.Assistant, use("c", "shot", "{}")),
		said(chat.User, chat.ToolResult{CallID: "c", Content: []chat.Part{picture}}),
	}}
	if _, err := buildPrompt(req, nil); err == nil || err.Kind != chat.Invalid || err.Param == "" {
		t.Errorf("without a place for pictures: %v", err)
	}
	saved := 0
	got, err := buildPrompt(req, func(img chat.Image) (string, error) { saved++; return "/private/" + img.MIME, nil })
	if err != nil || saved != 2 || strings.Count(got, "/private/image/png") != 2 {
		t.Errorf("saved %d, %v: %s", saved, err, got)
	}
	full := errors.New("disk full")
	if _, err := buildPrompt(req, func(chat.Image) (string, error) { return "", full }); err == nil || !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if _, ok := deltaPrompt(&chat.Request{Messages: req.Messages[:1]}); ok {
		t.Error("a picture needs the whole prompt")
	}
}

func TestPromptTooLarge(t *testing.T) {
	big := &chat.Request{Messages: []chat.Message{said(chat.User, text(strings.Repeat("x", maxPrompt)))}}
	if _, err := buildPrompt(big, nil); err == nil || err.Kind != chat.TooLarge {
		t.Errorf("got %v", err)
	}
	if _, ok := deltaPrompt(big); ok {
		t.Error("a delta prompt has the same limit")
	}
	big.Messages[0].Parts[0] = text(strings.Repeat("x", maxPrompt-100))
	if got := mustPrompt(t, big); len(got) < maxPrompt-100 {
		t.Error("a prompt is never cut")
	}
}

func TestDeltaPrompt(t *testing.T) {
	history := conversation().Messages
	for _, c := range []struct {
		name string
		msgs []chat.Message
		want string
	}{
		{"user text", history[:6], "USER:\nGo on"},
		{"first message", history[:1], "USER:\nFirst\nsecond line"},
		{"results", history[:3], "ASSISTANT:\ntool_call(id: c1, name: read, args: {\"path\":\"a\"})\ntool_call(id: c2, name: read, args: {})\n\n" +
			"TOOL_RESULT (name: read, call_id: c2):\ntwo\n\n\nTOOL_RESULT (name: read, call_id: c1, failed: true):\n  1\tone\nmore\n\n" +
			"The tool calls above were executed and these are their results. Go on with the answer."},
		{"a result of no call", history, ""},
		{"results and text", append(history[:3:3], said(chat.User, text("and"))), ""},
		{"two user messages", []chat.Message{history[0], history[0]}, ""},
		{"ends with the model", history[:2], ""},
		{"nothing said", []chat.Message{said(chat.User)}, ""},
	} {
		got, ok := deltaPrompt(&chat.Request{Messages: c.msgs})
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != "") {
			t.Errorf("%s: %v %s", c.name, ok, diff)
		}
	}
}
