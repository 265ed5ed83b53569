package agentcli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func call(phase, rest string) string {
	return `{"type":"tool_call","subtype":"` + phase + `",` + rest + `}`
}

// calledOf shortens events to "+id name args" and "-id name status".
func calledOf(events []event) []string {
	var list []string
	for _, e := range events {
		switch e.kind {
		case evToolStarted:
			list = append(list, "+"+e.id+" "+e.name+" "+string(e.args))
		case evToolCompleted:
			list = append(list, "-"+e.id+" "+e.name+" "+string(e.status))
		}
	}
	return list
}

func TestToolCalls(t *testing.T) {
	const read = `"tool_call":{"readToolCall":{"args":{"path":"a"}}}`
	const grep = `"tool_call":{"grepToolCall":{"args":{"pattern":"p"}}}`
	const done = `"tool_call":{"readToolCall":{"args":{"path":"a"},"result":{"success":{}}}}`
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"no subtype is a start", []string{`{"type":"tool_call","call_id":"k",` + read + `}`}, []string{`+k read {"path":"a"}`}},
		{"other subtypes say nothing", []string{call("progress", `"call_id":"k",`+read)}, nil},
		{"id in the payload", []string{call("started", `"tool_call":{"readToolCall":{"args":{}},"toolCallId":" t1 \nfc"}`), call("started", `"tool_call":{"readToolCall":{"args":{}},"id":"t2"}`)},
			[]string{"+t1 read {}", "+t2 read {}"}},
		{"no id", []string{call("started", read), call("started", grep), call("completed", done), call("started", read)},
			[]string{`+call_1 read {"path":"a"}`, `+call_2 grep {"pattern":"p"}`, "-call_1 read success", `+call_3 read {"path":"a"}`}},
		{"end without id: oldest open of the name", []string{call("started", `"call_id":"x",`+read), call("started", `"call_id":"y",`+read), call("completed", done), call("completed", done), call("completed", done)},
			[]string{`+x read {"path":"a"}`, `+y read {"path":"a"}`, "-x read success", "-y read success"}},
		{"end without start", []string{call("completed", `"call_id":"k",`+done), call("completed", `"call_id":"k",`+done)}, []string{"-k read success"}},
		{"start after its end", []string{call("completed", `"call_id":"k",`+done), call("started", `"call_id":"k",`+read)}, []string{"-k read success"}},
		{"end without payload", []string{call("started", `"call_id":"k",`+read), call("completed", `"call_id":"k"`)}, []string{`+k read {"path":"a"}`, "-k read unknown"}},
		{"held, then ended without arguments", []string{call("started", `"call_id":"k","tool_call":{"lsToolCall":{}}`), call("completed", `"call_id":"k","tool_call":{"lsToolCall":{"result":{"failure":{}}}}`)},
			[]string{"+k ls {}", "-k ls error"}},
		{"held without a kind", []string{call("started", `"call_id":"k"`), call("started", `"call_id":"k",`+read)}, []string{`+k read {"path":"a"}`}},
		{"no kind", []string{call("started", `"call_id":"k","tool_call":{"args":{"a":1}}`), call("completed", `"call_id":"k","tool_call":[]`)}, []string{`+k tool {"a":1}`, "-k tool unknown"}},
		{"first of several kinds", []string{call("started", `"call_id":"k","tool_call":{"bToolCall":{"args":{"b":1}},"aToolCall":{"args":{"a":1}},"ToolCall":{"args":{}},"AToolCall":7}`)}, []string{`+k a {"a":1}`}},
		{"input for args", []string{call("started", `"call_id":"k","tool_call":{"ReadToolCall":{"args":"no","input":{"a":1}}}`)}, []string{`+k read {"a":1}`}},
		{"function", []string{
			call("started", `"call_id":"1","tool_call":{"function":{"name":"F","arguments":""}}`),
			call("started", `"call_id":"2","tool_call":{"function":{"name":"F","arguments":"[1]"}}`),
			call("started", `"call_id":"3","tool_call":{"function":{"arguments":{"a":1}}}`),
			call("started", `"call_id":"4","tool_call":{"function":{"name":"F"}}`),
		}, []string{"+1 F {}", `+2 F {"value":[1]}`, `+3 tool {"a":1}`}},
		{"wrappers", []string{
			call("completed", `"call_id":"1","tool_call":{"xToolCall":{"result":{"success":null,"error":{}}}}`),
			call("completed", `"call_id":"2","tool_call":{"xToolCall":{"result":{"success":{},"isBackground":false}}}`),
			call("completed", `"call_id":"3","tool_call":{"xToolCall":{"result":"text"}}`),
			call("completed", `"call_id":"4","tool_call":{"name":"y","result":{"rejected":{"reason":"r"}}}`),
		}, []string{"-1 x error", "-2 x success", "-3 x unknown", "-4 y rejected"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, calledOf(run(t, append(c.lines, result("x"))...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTC4_OneCallWithItsFullestArguments(t *testing.T) {
	events := run(t, started("k", ""), started("k", `"args":{"path":"a"}`), started("k", `"args":{"path":"b"}`), completed("k", `"args":{"path":"a"},"result":{"success":{}}`), result("x"))
	if diff := cmp.Diff([]string{`+k read {"path":"a"}`, "-k read success"}, calledOf(events)); diff != "" {
		t.Error(diff)
	}
}

// TestToolHeldResets: every start closes the segment, also one that is held.
func TestToolHeldResets(t *testing.T) {
	events := run(t, delta("a"), started("k", ""), whole("a"), started("k", ""), whole("a"), result(""))
	if diff := cmp.Diff([]string{"a", "a", "a"}, texts(events)); diff != "" {
		t.Error(diff)
	}
}

func TestWorking(t *testing.T) {
	p := newParser(redaction{})
	emit := func(event) bool { return true }
	check := func(line string, open bool, limit time.Duration) {
		t.Helper()
		p.line([]byte(line), emit)
		if gotOpen, gotLimit := p.working(); gotOpen != open || gotLimit != limit {
			t.Errorf("after %s: %v, %v", line, gotOpen, gotLimit)
		}
	}
	check(delta("x"), false, 0)
	check(call("started", `"call_id":"1","tool_call":{"readToolCall":{}}`), true, 0)
	check(call("started", `"call_id":"2","tool_call":{"shellToolCall":{"args":{"timeout":900000}}}`), true, 15*time.Minute)
	check(call("started", `"call_id":"3","tool_call":{"shellToolCall":{"args":{"timeout":-1}}}`), true, 15*time.Minute)
	check(call("completed", `"call_id":"2"`), true, 0)
	check(call("completed", `"call_id":"1"`), true, 0)
	check(call("completed", `"call_id":"3"`), false, 0)
}

// TestToolArgumentsAreDetached: lines are reused by the reader.
func TestToolArgumentsAreDetached(t *testing.T) {
	line := []byte(started("k", `"args":{"path":"aaaa"}`))
	var got event
	newParser(redaction{}).line(line, func(e event) bool { got = e; return true })
	for i := range line {
		line[i] = '!'
	}
	if string(got.args) != `{"path":"aaaa"}` || got.id != "k" || strings.Contains(got.name, "!") {
		t.Errorf("got %+v", got)
	}
}
