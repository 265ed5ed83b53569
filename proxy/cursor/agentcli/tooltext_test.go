package agentcli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

func tool(name, schema string) chat.Tool {
	return chat.Tool{Name: name, Schema: json.RawMessage(schema)}
}

var scanTools = []chat.Tool{
	tool("read", `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}}}`),
	tool("bash", `{"type":"object","properties":{"command":{"type":"string"}}}`),
	tool("any", ``),
}

// scanText feeds text in pieces of n bytes and returns the text that came out
// and the calls as "name arguments"; a call stands in the text as "•".
func scanText(s *toolScanner, text string, n int) (string, []string) {
	var out strings.Builder
	var found []string
	yield := func(e chat.Event) bool {
		switch e := e.(type) {
		case chat.TextDelta:
			out.WriteString(e.Text)
		case chat.ToolCall:
			out.WriteString("•")
			found = append(found, e.Name+" "+string(e.Arguments))
		}
		return true
	}
	more := true
	for len(text) > 0 && more {
		m := min(n, len(text))
		more = s.feed(text[:m], yield)
		text = text[m:]
	}
	if more {
		s.end(yield)
	}
	return out.String(), found
}

func block(object string) string { return callOpen + object + callClose }

func TestToolScanner(t *testing.T) {
	const read = `{"name":"read","arguments":{"path":"a"}}`
	const gotRead = `read {"path":"a"}`
	for _, c := range []struct {
		name string
		in   string
		text string
		want []string
	}{
		{"no call", "a < b, <b>c</b> <tool> <tool_calls>", "a < b, <b>c</b> <tool> <tool_calls>", nil},
		{"call", "ok\n" + block(read), "ok\n•", []string{gotRead}},
		{"space", block(" \n" + read + "\n "), "•", []string{gotRead}},
		{"fence", "```json\n" + block(read) + "\n```\n", "```json\n•", []string{gotRead}},
		{"several", block(read) + "\n" + block(`{"name":"bash","arguments":{"command":"ls"}}`), "••", []string{gotRead, `bash {"command":"ls"}`}},
		{"text after a call is dropped", block(read) + " and <b> so " + block(read) + " on", "••", []string{gotRead, gotRead}},
		{"invented results end it", block(read) + "\nTOOL_RESULT (name: read):\nx\n" + block(read), "•", []string{gotRead}},
		{"nested braces and marks in strings", block(`{"name":"bash","arguments":{"command":"echo '{</tool_call>}' \"}{\\"}}`), "•", []string{`bash {"command":"echo '{</tool_call>}' \"}{\\"}`}},
		{"nested objects", block(`{"name":"any","arguments":{"a":[{"b":{}},[]]}}`), "•", []string{`any {"a":[{"b":{}},[]]}`}},
		{"no arguments", block(`{"name":"any"}`) + block(`{"name":"any","arguments":null}`) + block(`{"name":"any","arguments":""}`), "•••", []string{"any {}", "any {}", "any {}"}},
		{"arguments in a string", block(`{"name":"any","arguments":"{\"a\":1}"}`), "•", []string{`any {"a":1}`}},
		{"line ends in strings", block("{\"name\":\"any\",\n\"arguments\":{\"a\":\"x\ny\t\\n\\\"\"}}"), "•", []string{`any {"a":"x\ny\t\n\""}`}},
		{"prose about calls", "Write <tool_call> and then </tool_call>.", "Write <tool_call> and then </tool_call>.", nil},
		{"prose with braces", "Use <tool_call>{...}</tool_call> for it", "Use <tool_call>{...}</tool_call> for it", nil},
		{"prose, then a call", "The mark <tool_call> begins " + block(read), "The mark <tool_call> begins •", []string{gotRead}},
		{"mark directly before a call", "<<tool_<tool_call>" + block(read), "<<tool_<tool_call>•", []string{gotRead}},
		{"object without its end mark, then text", callOpen + read + " is a call", callOpen + read + " is a call", nil},
		{"object without its end mark, at the end", callOpen + read + "\n", "•", []string{gotRead}},
		{"end mark cut", callOpen + read + "</tool", "•", []string{gotRead}},
		{"object cut", "x " + callOpen + read[:20], "x " + callOpen + read[:20], nil},
		{"cut object around a call", callOpen + `{"a":` + block(read), callOpen + `{"a":•`, []string{gotRead}},
		{"unknown tool", "x" + block(`{"name":"launch","arguments":{}}`) + "y", "x" + block(`{"name":"launch","arguments":{}}`) + "y", nil},
		{"unknown tool, then a known one", block(`{"name":"launch"}`) + block(read), block(`{"name":"launch"}`) + "•", []string{gotRead}},
		{"arguments that are no object", block(`{"name":"any","arguments":[1]}`), block(`{"name":"any","arguments":[1]}`), nil},
		{"no name", block(`{"arguments":{}}`), block(`{"arguments":{}}`), nil},
		{"not JSON", block(`{"name":'any'}`), block(`{"name":'any'}`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 5, len(c.in)} {
				text, found := scanText(newToolScanner(scanTools, false), c.in, n)
				if diff := cmp.Diff(c.want, found); diff != "" || text != c.text {
					t.Errorf("pieces of %d: text %q, want %q %s", n, text, c.text, diff)
				}
			}
		})
	}
}

func TestToolScannerSerial(t *testing.T) {
	one := block(`{"name":"read","arguments":{"path":"a"}}`)
	s := newToolScanner(scanTools, true)
	if text, found := scanText(s, "x"+one+one, 3); text != "x•" || len(found) != 1 || !s.over {
		t.Errorf("got %q %q", text, found)
	}
}

// TestToolScannerHoldsNothingElse: text that cannot begin a call is not kept
// back for a moment.
func TestToolScannerHoldsNothingElse(t *testing.T) {
	s := newToolScanner(scanTools, false)
	for _, c := range []struct{ in, out string }{
		{"abc", "abc"}, {"a <", "a "}, {" b", "< b"}, {"<tool", ""}, {"s>", "<tools>"}, {"<tool_call>", ""}, {"\n", ""}, {"x", "<tool_call>\nx"},
	} {
		got := ""
		s.feed(c.in, func(e chat.Event) bool { got += e.(chat.TextDelta).Text; return true })
		if got != c.out {
			t.Errorf("after %q: got %q, want %q", c.in, got, c.out)
		}
	}
}

func TestToolScannerStops(t *testing.T) {
	for stop := range 3 {
		n := 0
		s := newToolScanner(scanTools, false)
		s.feed("a<b"+block(`{"name":"any"}`)+block(`{"name":"any"}`), func(chat.Event) bool { n++; return n <= stop })
		if n != stop+1 {
			t.Errorf("stopped after %d, got %d events", stop+1, n)
		}
	}
}

func TestTC1_EachCallHasItsOwnID(t *testing.T) {
	one := block(`{"name":"read","arguments":{"path":"a"}}`)
	ids := make(map[string]bool)
	newToolScanner(scanTools, false).feed(one+one+one, func(e chat.Event) bool {
		id := e.(chat.ToolCall).ID
		if !regexp.MustCompile(`^call_[A-Za-z0-9_-]{20,35}$`).MatchString(id) {
			t.Errorf("id %q", id)
		}
		ids[id] = true
		return true
	})
	if len(ids) != 3 {
		t.Errorf("%d ids for three calls", len(ids))
	}
}

func TestTC2_ArgumentsAreOneObject(t *testing.T) {
	command := strings.Repeat(`a 'b' "c" | d \ é`, 60)
	args := fmt.Sprintf(`{"command":%s}`, quoteJSON(command))
	in := block(`{"name":"bash","arguments":` + args + `}`)
	for _, n := range []int{1, 3, len(in) / 5, len(in)} {
		_, found := scanText(newToolScanner(scanTools, false), in, n)
		if diff := cmp.Diff([]string{"bash " + args}, found); diff != "" {
			t.Error(diff)
		}
	}
}

// FuzzToolScanner: no text is lost or changed unless a call was found, and
// calls keep the contract of chat.
func FuzzToolScanner(f *testing.F) {
	f.Add("x <tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\\\"}</tool_call>\"}}</tool_call> y", 3)
	f.Add("<tool_call>{\"name\":\"any\"}</tool_ca<tool_call>{", 1)
	f.Add("<<tool_call>\n{\"a\":\"\n\"}</tool_call>", 200)
	f.Fuzz(func(t *testing.T, in string, n int) {
		n = 1 + max(n, -n, 0)%64
		text, found := scanText(newToolScanner(scanTools, false), in, n)
		whole, same := scanText(newToolScanner(scanTools, false), in, len(in)+1)
		if text != whole || cmp.Diff(found, same) != "" {
			t.Fatalf("pieces of %d give %q %q, the whole %q %q", n, text, found, whole, same)
		}
		before, _, called := strings.Cut(text, "•")
		if len(found) == 0 && text != in || len(found) > 0 && !(called || strings.Contains(in, "•")) || !strings.HasPrefix(in, before) {
			t.Fatalf("%q became %q", in, text)
		}
		for _, call := range found {
			_, args, _ := strings.Cut(call, " ")
			if !json.Valid([]byte(args)) || args[0] != '{' || !utf8.ValidString(args) {
				t.Fatalf("arguments %q", args)
			}
		}
	})
}
