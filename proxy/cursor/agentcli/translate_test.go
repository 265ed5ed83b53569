package agentcli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

// translated runs lines through parser and translator; process ends with x.
func translated(t *testing.T, req *chat.Request, x exit, lines ...string) (events []chat.Event, fail error) {
	t.Helper()
	tr := newTranslator(req, loopGuard{})
	over := false
	for _, e := range replay(t, strings.NewReader(strings.Join(lines, "\n")), x) {
		if over {
			break
		}
		over = !tr.event(e, func(ev chat.Event, err error) bool {
			if call, ok := ev.(chat.ToolCall); ok {
				call.ID = "id"
				ev = call
			}
			if ev != nil {
				events = append(events, ev)
			}
			fail = err
			return true
		})
	}
	if !over {
		t.Error("the turn has no end")
	}
	return events, fail
}

func TestTranslator(t *testing.T) {
	const readCall = `{"name":"read","arguments":{"path":"a"}}`
	const usage = `{"type":"result","subtype":"success","result":"x","usage":{"inputTokens":3,"outputTokens":1}}`
	thought := `{"type":"thinking","text":"hm","timestamp_ms":1}`
	ask := []chat.Message{said(chat.User, text("q"))}
	with := &chat.Request{Messages: ask, Tools: scanTools}
	none := &chat.Request{Messages: ask, Tools: scanTools, Choice: chat.ToolChoice{Mode: chat.ToolNone}}
	named := &chat.Request{Messages: ask, Tools: scanTools, Choice: chat.ToolChoice{Mode: chat.ToolNamed, Name: "bash"}}
	serial := &chat.Request{Messages: ask, Tools: scanTools, SerialTools: true}
	failing := &chat.Request{Tools: scanTools, Messages: looped(2, "read", func(int) string { return `{"path":"a"}` }, func(int) chat.ToolResult { return answer("", "Error: no such file") })}
	handed := chat.ToolCall{ID: "id", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)}
	three := &chat.Usage{Input: 3, Output: 1}
	for _, c := range []struct {
		name  string
		req   *chat.Request
		lines []string
		want  []chat.Event
	}{
		{"text", with, []string{thought, delta("x"), usage}, []chat.Event{chat.ReasoningDelta{Text: "hm"}, chat.TextDelta{Text: "x"}, chat.Finish{Usage: three}}},
		{"call", with, []string{delta("x " + block(readCall)), thought, delta("more"), usage}, []chat.Event{chat.TextDelta{Text: "x "}, handed, chat.Finish{Reason: chat.ToolCalls, Usage: three}}},
		{"call in the result", with, []string{result(block(readCall))}, []chat.Event{handed, chat.Finish{Reason: chat.ToolCalls}}},
		{"call in pieces", with, []string{delta(block(readCall)[:15]), delta(block(readCall)[15:]), usage}, []chat.Event{handed, chat.Finish{Reason: chat.ToolCalls, Usage: three}}},
		{"two calls", with, []string{delta(block(readCall) + block(readCall)), usage}, []chat.Event{handed, handed, chat.Finish{Reason: chat.ToolCalls, Usage: three}}},
		{"one call at a time", serial, []string{delta(block(readCall) + block(readCall)), usage}, []chat.Event{handed, chat.Finish{Reason: chat.ToolCalls}}},
		{"invented result", with, []string{delta(block(readCall)), delta("\nTOOL_RESULT"), delta("x"), usage}, []chat.Event{handed, chat.Finish{Reason: chat.ToolCalls}}},
		{"held to the end", with, []string{delta("a <tool"), usage}, []chat.Event{chat.TextDelta{Text: "a "}, chat.TextDelta{Text: "<tool"}, chat.Finish{Usage: three}}},
		{"no call wanted", none, []string{delta(block(readCall)), usage}, []chat.Event{chat.TextDelta{Text: block(readCall)}, chat.Finish{Usage: three}}},
		{"another tool than the named one", named, []string{delta(block(readCall)), usage}, []chat.Event{
			chat.TextDelta{Text: block(readCall)}, chat.TextDelta{Text: note(`the client lets no tool but "bash" be called now`)}, chat.Finish{Usage: three},
		}},
		{"cut in a call", with, []string{delta("x"), delta(block(readCall)[:30]), usage}, []chat.Event{
			chat.TextDelta{Text: "x"}, chat.TextDelta{Text: block(readCall)[:30]}, chat.TextDelta{Text: note(brokenOff)}, chat.Finish{Usage: three},
		}},
		{"loop", failing, []string{delta("x " + block(readCall)), delta("y"), usage}, []chat.Event{
			chat.TextDelta{Text: "x "},
			chat.TextDelta{Text: `Stopped: the tool "read" was called 2 times with the same arguments and failed each time. Last error: Error: no such file`},
			chat.Finish{},
		}},
	} {
		got, err := translated(t, c.req, exit{}, c.lines...)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
}

func TestTranslatorErrors(t *testing.T) {
	req := &chat.Request{Messages: []chat.Message{said(chat.User, text("q"))}, Tools: scanTools, Model: "m"}
	for _, c := range []struct {
		name  string
		x     exit
		lines []string
		text  string
		code  string
	}{
		{"cut in text", exit{signal: "SIGKILL"}, []string{delta("par")}, "par", "cursor_killed"},
		{"cut in a call", exit{signal: "SIGKILL"}, []string{delta("par" + callOpen + `{"name":"re`)}, "par", "cursor_killed"},
		{"only the CLI's own call", exit{}, []string{started("k", `"args":{}`), completed("k", `"args":{}`), result("")}, "", "cursor_empty"},
	} {
		got, err := translated(t, req, c.x, c.lines...)
		text := ""
		for _, e := range got {
			text += e.(chat.TextDelta).Text
		}
		if e := chat.AsError(err); e == nil || e.Code != c.code || text != c.text {
			t.Errorf("%s: text %q, %v", c.name, text, err)
		}
	}
}

func TestTC5_OwnToolsAreNotHandedOver(t *testing.T) {
	for _, tools := range [][]chat.Tool{nil, scanTools} {
		req := &chat.Request{Messages: []chat.Message{said(chat.User, text("q"))}, Tools: tools}
		got, err := translated(t, req, exit{}, started("k", `"args":{"path":"a"}`), completed("k", `"args":{"path":"a"},"result":{"success":{}}`), delta("read it"), result(""))
		want := []chat.Event{chat.TextDelta{Text: "read it"}, chat.Finish{}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
}

// TestTranslatorStops: leaving the loop is the end, whatever was to come.
func TestTranslatorStops(t *testing.T) {
	req := &chat.Request{Messages: []chat.Message{said(chat.User, text("q"))}, Tools: scanTools}
	for stop := range 3 {
		tr := newTranslator(req, loopGuard{})
		n := 0
		for _, e := range run(t, delta("a <b"), delta(block(`{"name":"any"}`)+callOpen), result("")) {
			if !tr.event(e, func(chat.Event, error) bool { n++; return n <= stop }) {
				break
			}
		}
		if n != stop+1 {
			t.Errorf("stopped at event %d, got %d", stop+1, n)
		}
	}
}
