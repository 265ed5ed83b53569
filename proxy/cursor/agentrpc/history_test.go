package agentrpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// promptsOf is the prompt that a history becomes, one message a line.
func promptsOf(messages ...chat.Message) string {
	var lines []string
	for _, m := range promptMessages(messages) {
		lines = append(lines, string(encodeJSON(m)))
	}
	return strings.Join(lines, "\n")
}

func TestPromptMessages(t *testing.T) {
	picture := chat.Image{MIME: "image/png", Data: []byte("p")}
	failed := gave("b", "no")
	failed.Failed = true
	for _, c := range []struct {
		name     string
		messages []chat.Message
		want     string
	}{
		{"nothing", nil, ``},
		{"words", []chat.Message{said("a < b"), answered("yes", chat.Reasoning{Text: "hm"})},
			`{"role":"user","content":[{"type":"text","text":"a < b"}]}` + "\n" + `{"role":"assistant","content":[{"type":"text","text":"yes"}]}`},
		{"neighbours", []chat.Message{said("a"), said("", "b"), answered(chat.Reasoning{Text: "hm"}), said("c")},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"c"}]}`},
		{"picture", []chat.Message{said(picture, "what?")},
			`{"role":"user","content":[{"type":"image","image":"data:image/png;base64,cA==","mediaType":"image/png"},{"type":"text","text":"what?"}]}`},
		{"calls", []chat.Message{answered("go", called("a", "read", `{"b":1, "a":2}`), called("b", "ls", "")), said(gave("a", "x"), failed)},
			`{"role":"assistant","content":[{"type":"text","text":"go"},{"type":"tool-call","toolCallId":"a","toolName":"mcp_cursortray_read","args":{"b":1,"a":2}},{"type":"tool-call","toolCallId":"b","toolName":"mcp_cursortray_ls","args":{}}]}` + "\n" +
				`{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"mcp_cursortray_read","result":"x","isError":false},{"type":"tool-result","toolCallId":"b","toolName":"mcp_cursortray_ls","result":"no","isError":true}]}`},
		{"broken arguments", []chat.Message{answered(called("a", "read", `{"b":`)), said(gave("a"))},
			`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a","toolName":"mcp_cursortray_read","args":{"arguments":"{\"b\":"}}]}` + "\n" +
				`{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"mcp_cursortray_read","result":"(no output)","isError":false}]}`},
		{"result without a call", []chat.Message{said(gave("x", "old"), "hi")}, `{"role":"user","content":[{"type":"text","text":"hi"}]}`},
		{"call without a result", []chat.Message{answered(called("a", "read", "{}")), said("never mind")},
			`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a","toolName":"mcp_cursortray_read","args":{}}]}` + "\n" +
				`{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"mcp_cursortray_read","result":"(no result was given)","isError":true}]}` + "\n" +
				`{"role":"user","content":[{"type":"text","text":"never mind"}]}`},
		{"picture in a result", []chat.Message{answered(called("a", "shot", "{}")), said(gave("a", "here", picture), "nice")},
			`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a","toolName":"mcp_cursortray_shot","args":{}}]}` + "\n" +
				`{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"mcp_cursortray_shot","result":"here","isError":false}]}` + "\n" +
				`{"role":"user","content":[{"type":"text","text":"Picture in a tool's result:"},{"type":"image","image":"data:image/png;base64,cA==","mediaType":"image/png"},{"type":"text","text":"nice"}]}`},
		{"an id twice", []chat.Message{answered(called("a", "x", "{}")), said(gave("a", "1")), answered(called("a", "x", "{}")), said(gave("a", "2"))},
			`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a","toolName":"mcp_cursortray_x","args":{}}]}` + "\n" +
				`{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"mcp_cursortray_x","result":"1","isError":false}]}` + "\n" +
				`{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a_2","toolName":"mcp_cursortray_x","args":{}}]}` + "\n" +
				`{"role":"tool","content":[{"type":"tool-result","toolCallId":"a_2","toolName":"mcp_cursortray_x","result":"2","isError":false}]}`},
	} {
		if got := promptsOf(c.messages...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestTC9_HistoryKeepsItsPairs: results in another order than their calls of one
// name, and a turn of calls alone.
func TestTC9_HistoryKeepsItsPairs(t *testing.T) {
	got := promptsOf(said("q"), answered(called("c1", "read", `{"path":"1"}`), called("c2", "read", `{"path":"2"}`)),
		said(gave("c2", "two")), said(gave("c1", "one")), said("and?"))
	for _, want := range []string{
		`"toolCallId":"c2","toolName":"mcp_cursortray_read","result":"two"`, `"toolCallId":"c1","toolName":"mcp_cursortray_read","result":"one"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if strings.Contains(got, `"text":""`) || strings.Count(got, `"role":"tool"`) != 1 {
		t.Errorf("got %s", got)
	}
}

func TestRebuiltState(t *testing.T) {
	messages := []chat.Message{said("q"), answered("let me see", called("c1", "read", `{"path":"1"}`)), said(gave("c1", "one")), answered("it is one"), said("ok"), answered("bye")}
	state, prompt, others := rebuiltState(messages)
	var structure cursorpb.ConversationStateStructure
	if err := proto.Unmarshal(state, &structure); err != nil {
		t.Fatal(err)
	}
	if len(structure.RootPromptMessagesJson) != len(prompt) || len(prompt) != 6 || len(structure.Turns) != 2 {
		t.Fatalf("%d messages, %d turns", len(structure.RootPromptMessagesJson), len(structure.Turns))
	}
	byID := map[string][]byte{}
	for _, b := range append(prompt, others...) {
		if string(newBlob(b.data).id) != string(b.id) || len(b.id) != 32 {
			t.Errorf("a blob under the wrong id")
		}
		byID[string(b.id)] = b.data
	}
	for i, id := range structure.RootPromptMessagesJson {
		if !json.Valid(byID[string(id)]) || string(prompt[i].id) != string(id) {
			t.Errorf("message %d: %s", i, byID[string(id)])
		}
	}
	var turn cursorpb.ConversationTurnStructure
	if err := proto.Unmarshal(byID[string(structure.Turns[0])], &turn); err != nil {
		t.Fatal(err)
	}
	agent := turn.GetAgentConversationTurn()
	var user cursorpb.UserMessage
	if err := proto.Unmarshal(byID[string(agent.GetUserMessage())], &user); err != nil || user.Text != "q" {
		t.Errorf("%v %v", &user, err)
	}
	if len(agent.Steps) != 3 {
		t.Fatalf("%d steps", len(agent.Steps))
	}
	for _, id := range agent.Steps {
		var step cursorpb.ConversationStep
		if data, ok := byID[string(id)]; !ok || proto.Unmarshal(data, &step) != nil || step.Message == nil {
			t.Errorf("step %v", &step)
		}
	}
	again, _, _ := rebuiltState(messages)
	if string(again) != string(state) {
		t.Error("not the same state twice")
	}
	if state, prompt, others := rebuiltState(nil); state == nil || len(state)+len(prompt)+len(others) != 0 {
		t.Errorf("nothing became %x", state)
	}
}

func TestTranscript(t *testing.T) {
	got := transcript([]chat.Message{said("q"), answered("see", called("c1", "read", `{"path":"1"}`)), said(gave("c1", "one\n"))})
	for _, want := range []string{"<user>\nq\n</user>", "<your_earlier_answer>\nsee\n", `<earlier_tool_call name="read">` + "\n{\"path\":\"1\"}\n</earlier_tool_call>", `<earlier_tool_result name="read">` + "\none\n\n</earlier_tool_result>"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %q", got, want)
		}
	}
	if transcript(nil) != "" || transcript([]chat.Message{said("")}) != "" {
		t.Error("nothing was told at length")
	}
}

func FuzzHistory(f *testing.F) {
	seedHistories(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		messages := decodedMessages(data)
		state, prompt, others := rebuiltState(messages)
		var structure cursorpb.ConversationStateStructure
		if err := proto.Unmarshal(state, &structure); err != nil {
			t.Fatal(err)
		}
		blobs := map[string][]byte{}
		for _, b := range append(prompt, others...) {
			blobs[string(b.id)] = b.data
		}
		for _, id := range structure.Turns {
			if _, ok := blobs[string(id)]; !ok {
				t.Fatal("a turn is missing")
			}
		}
		checkPrompt(t, structure.RootPromptMessagesJson, blobs)
		transcript(messages)
	})
}

// checkPrompt holds a prompt to what the providers behind the service insist on:
// no two neighbours of one role, nothing empty, every result behind its call
// and every call with its result.
func checkPrompt(t *testing.T, ids [][]byte, blobs map[string][]byte) {
	t.Helper()
	last := ""
	calls := map[string]bool{}
	for _, id := range ids {
		var m struct {
			Role    string
			Content []struct {
				Type       string
				ToolCallID string `json:"toolCallId"`
			}
		}
		if err := json.Unmarshal(blobs[string(id)], &m); err != nil {
			t.Fatal(err)
		}
		if m.Role == last || len(m.Content) == 0 {
			t.Fatalf("two of %s, or nothing in it", m.Role)
		}
		last = m.Role
		if m.Role != "tool" && len(calls) > 0 {
			t.Fatalf("calls without results: %v", calls)
		}
		for _, part := range m.Content {
			switch part.Type {
			case "tool-call":
				calls[part.ToolCallID] = true
			case "tool-result":
				if !calls[part.ToolCallID] {
					t.Fatal("a result without a call")
				}
				delete(calls, part.ToolCallID)
			}
		}
	}
	if len(calls) > 0 {
		t.Fatalf("calls without results: %v", fmt.Sprint(calls))
	}
}
