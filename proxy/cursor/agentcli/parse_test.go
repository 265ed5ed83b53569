package agentcli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines in the CLI's shapes. delta and snap are the two forms of assistant
// text while a run streams; whole is the closing message.
func delta(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"text","text":%s}]},"timestamp_ms":1}`, quoteJSON(text))
}

func snap(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"text","text":%s}]},"timestamp_ms":1,"model_call_id":"m"}`, quoteJSON(text))
}

func whole(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"text","text":%s}]}}`, quoteJSON(text))
}

func result(text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"result":%s}`, quoteJSON(text))
}

func started(id, args string) string {
	return fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"readToolCall":{%s}}}`, id, args)
}

func completed(id, args string) string {
	return strings.Replace(started(id, args), "started", "completed", 1)
}

func TestST1_FragmentsAndSnapshotsComeOutOnce(t *testing.T) {
	events := run(t, delta("Hel"), delta("lo"), snap("Hello"), whole("Hello"), result("Hello"))
	if got := textOf(events); got != "Hello" || last(events).kind != evDone {
		t.Errorf("got %q, %v", got, canonical(events))
	}
	thought := run(t, `{"type":"thinking","subtype":"delta","text":"Hel","timestamp_ms":1}`, `{"type":"thinking","subtype":"delta","text":"lo","timestamp_ms":2}`,
		`{"type":"thinking","subtype":"completed","text":"Hello!","timestamp_ms":3}`, delta("Hello"), result(""))
	want := []map[string]any{{"kind": "thinking", "text": "Hello!"}, {"kind": "text", "text": "Hello"}, {"kind": "done", "reason": "stop"}}
	if diff := cmp.Diff(want, joined(canonical(thought))); diff != "" {
		t.Error(diff)
	}
}

func TestST2_RepeatedFragmentIsText(t *testing.T) {
	for want, lines := range map[string][]string{"haha": {delta("ha"), delta("ha")}, "aaab": {delta("aa"), delta("ab")}} {
		if got := textOf(run(t, append(lines, result(want))...)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestST3_SnapshotAddsItsTail(t *testing.T) {
	events := run(t, delta("one two"), snap("one"), snap("one two three"), snap("1 2 3"), snap("one two three1 2 3"), result(""))
	if diff := cmp.Diff([]string{"one two", " three", "1 2 3"}, texts(events)); diff != "" {
		t.Error(diff)
	}
}

func TestST4_EmptyEventsAndMissingSnapshots(t *testing.T) {
	for want, lines := range map[string][]string{
		"hi":     {delta(""), whole("hi"), result("hi")},
		"ok":     {delta("ok"), result("ok")},
		"result": {delta(""), result("result")},
		"part":   {delta("part"), result("part and more")},
	} {
		if got := textOf(run(t, lines...)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestST5_BuffersBelongToASegment(t *testing.T) {
	events := run(t, delta("first"), started("k", `"args":{}`), completed("k", `"args":{}`), whole("second"), whole("second part"), result(""))
	if diff := cmp.Diff([]string{"first", "second", " part"}, texts(events)); diff != "" {
		t.Error(diff)
	}
}

// TestRecap shows the rule for closing messages that repeat the whole run.
func TestRecap(t *testing.T) {
	tool := started("k", `"args":{}`)
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"nothing new", []string{delta("A. "), tool, delta("B."), whole("A. B.")}, []string{"A. ", "B."}},
		{"with an end", []string{delta("A. "), tool, delta("B."), whole("A. B. C."), whole("A. B. C. D.")}, []string{"A. ", "B.", " C.", " D."}},
		{"new segment begins with a repetition", []string{delta("A. "), tool, whole("A. B.")}, []string{"A. ", "A. B."}},
		{"only for snapshots", []string{delta("A. "), tool, delta("B."), delta("A. B.")}, []string{"A. ", "B.", "A. B."}},
		{"segment goes first", []string{delta("A"), tool, delta("A"), whole("AA")}, []string{"A", "A", "A"}},
		{"shorter than the run", []string{delta("A. "), tool, delta("B."), whole("A. ")}, []string{"A. ", "B.", "A. "}},
		{"no earlier segment", []string{delta("A"), whole("BA")}, []string{"A", "BA"}},
	} {
		if diff := cmp.Diff(c.want, texts(run(t, append(c.lines, result(""))...))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestST6_LineOfAnyLength(t *testing.T) {
	long := completed("k", `"args":{"path":"a"},"result":{"success":{"content":"`+strings.Repeat("x", 4<<20)+`"}}`)
	end := `{"type":"result","subtype":"success","result":"x","usage":{"inputTokens":5,"outputTokens":1}}`
	want := joined(canonical(run(t, started("k", `"args":{"path":"a"}`), delta("x"), end)))
	got := joined(canonical(run(t, started("k", `"args":{"path":"a"}`), long, delta("x"), end)))
	if diff := cmp.Diff(slices.Insert(want, 1, map[string]any{"kind": "tool_call", "phase": "completed", "id": "k", "name": "read", "status": "success"}), got); diff != "" {
		t.Error(diff)
	}
	tooLong := whole(strings.Repeat("y", maxLine))
	if got := textOf(run(t, delta("x"), tooLong, delta("z"), end)); got != "xz" {
		t.Errorf("got %d bytes, want only the lines beside the one that is too long", len(got))
	}
}

func TestST7_CharactersSurviveAnySplit(t *testing.T) {
	text := "漢字 仮名 👩‍💻 é ü"
	stream := strings.Join([]string{delta("漢字 "), delta("仮名 👩‍"), delta("💻 é ü"), whole(text), result(text)}, "\n")
	for size := 1; size < 12; size++ {
		if got := textOf(replay(t, &chunkReader{b: []byte(stream), size: size}, exit{})); got != text {
			t.Errorf("reads of %d bytes give %q", size, got)
		}
	}
}

func TestST8_OnlyAssistantTextIsContent(t *testing.T) {
	p := newParser(redaction{})
	var events []event
	for _, line := range []string{
		`{"type":"system","subtype":"init","cwd":"/x"}`, `{"type":"user","message":{"content":[{"type":"text","text":"prompt"}]}}`,
		"", "[1]", `{"type":`, strings.Repeat("plain ", 100), delta("x"), result("all"),
	} {
		p.line([]byte(line), func(e event) bool { events = append(events, e); return true })
	}
	want := []map[string]any{{"kind": "text", "text": "x"}, {"kind": "done", "reason": "stop"}}
	if diff := cmp.Diff(want, canonical(events)); diff != "" {
		t.Error(diff)
	}
	if p.noise.lines != 2 || len(p.noise.sizes) != 2 || p.noise.sizes[0] != len(`{"type":`) {
		t.Errorf("the log is told %+v", p.noise)
	}
}

func TestST10_CutStreamIsNoSuccess(t *testing.T) {
	killed := exit{code: -1, signal: "SIGKILL"}
	for _, c := range []struct {
		name, stdout string
		x            exit
		class        string
	}{
		{"killed after text", delta("par"), killed, classKilled},
		{"closed after text", delta("par"), exit{}, classIncomplete},
		{"cut in a line", delta("par") + "\n" + delta("tial")[:40], exit{}, classIncomplete},
		{"cut in the result", delta("par") + "\n" + `{"type":"result","subtype":"success"`, killed, classKilled},
	} {
		events := replay(t, strings.NewReader(c.stdout), c.x)
		if got := textOf(events); got != "par" {
			t.Errorf("%s: text %q", c.name, got)
		}
		if e := last(events); e.kind != evError || e.fail.class != c.class {
			t.Errorf("%s: ends with %v", c.name, canonicalEvent(e))
		}
	}
}

func TestContentForms(t *testing.T) {
	events := run(t,
		`{"type":"assistant","message":{"content":"plain"},"timestamp_ms":1}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":" te"},{"type":"thinking","thinking":"th"},{"type":"text","text":"xt"},{"type":"thinking","text":"ought"},{"type":"image"}]},"timestamp_ms":"12"}`,
		`{"type":"assistant","message":{"content":[7,null,"x"]}}`,
		`{"type":"assistant"}`,
		`{"type":"result"}`)
	want := []map[string]any{
		{"kind": "text", "text": "plain"}, {"kind": "thinking", "text": "thought"}, {"kind": "text", "text": " text"}, {"kind": "done", "reason": "stop"},
	}
	if diff := cmp.Diff(want, canonical(events)); diff != "" {
		t.Error(diff)
	}
}

func TestSession(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  map[string]any
	}{
		{"with its model", []string{`{"type":"system","subtype":"init","session_id":"s","model":"Auto"}`}, map[string]any{"kind": "session", "id": "s", "model": "Auto"}},
		{"late", []string{`{"type":"user","session_id":""}`, `{"type":"odd","session_id":"s","model":"x"}`, `{"type":"user","session_id":"t"}`}, map[string]any{"kind": "session", "id": "s"}},
		{"on a delta", []string{strings.Replace(delta(""), `"timestamp`, `"session_id":"s","timestamp`, 1)}, map[string]any{"kind": "session", "id": "s"}},
	} {
		events := run(t, append(c.lines, result("x"))...)
		if diff := cmp.Diff(c.want, canonicalEvent(events[0])); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if n := len(events); n != 3 {
			t.Errorf("%s: %d events", c.name, n)
		}
	}
}

// TestOneEnd: whatever follows the end is ignored, and a consumer that wants no
// more gets no more.
func TestOneEnd(t *testing.T) {
	for _, c := range []struct {
		end   string
		class string
	}{
		{result("x"), ""},
		{`{"type":"result","subtype":"error_during_execution"}`, classUpstream},
		{`{"type":"result","subtype":"cancelled"}`, classUpstream},
		{`{"type":"result","subtype":"success","is_error":true,"result":"rate limit"}`, classRateLimit},
	} {
		events := run(t, delta("x"), c.end, delta("y"), c.end)
		e := last(events)
		if len(events) != 2 || (c.class == "") != (e.kind == evDone) || e.fail != nil && e.fail.class != c.class {
			t.Errorf("%s: got %v", c.end, canonical(events))
		}
	}
	for stop := range 4 {
		p := newParser(redaction{})
		n := 0
		emit := func(event) bool { n++; return n <= stop }
		for _, line := range []string{`{"type":"user","session_id":"s"}`, delta("a"), `{"type":"result","result":"","usage":{"inputTokens":1}}`} {
			if !p.line([]byte(line), emit) {
				break
			}
		}
		p.end(exit{}, emit)
		if n > stop+1 {
			t.Errorf("stopped after %d events, got %d", stop+1, n)
		}
	}
}

func TestUnknownTypes(t *testing.T) {
	p := newParser(redaction{})
	for i := range 40 {
		p.line(fmt.Appendf(nil, `{"type":"kind_%02d <b>"}`, i), func(event) bool { t.Error("event"); return true })
	}
	p.line([]byte(`{"type":7}`), nil)
	got := p.unknownTypes()
	if len(got) != maxUnknown || got[0] != "kind_00b" {
		t.Errorf("got %q", got)
	}
}
