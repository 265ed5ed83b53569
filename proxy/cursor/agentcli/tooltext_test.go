package agentcli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
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

func note(why string) string {
	return "\n[cursortray: this call was not handed over: " + why + "]"
}

func noTool(name string) string { return note(`the client offers no tool "` + name + `"`) }

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
		{"fence", "```json\n" + block(read) + "\n```\n", "•", []string{gotRead}},
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
		{"object cut", "x " + callOpen + read[:20], "x " + callOpen + read[:20] + note(brokenOff), nil},
		{"cut object around a call", callOpen + `{"a":` + block(read), callOpen + `{"a":•`, []string{gotRead}},
		{"unknown tool", "x" + block(`{"name":"launch","arguments":{}}`) + "y", "x" + block(`{"name":"launch","arguments":{}}`) + noTool("launch") + "\ny", nil},
		{"unknown tool, then a known one", block(`{"name":"launch"}`) + block(read), block(`{"name":"launch"}`) + noTool("launch") + "•", []string{gotRead}},
		{"arguments that are no object", block(`{"name":"any","arguments":[1]}`), block(`{"name":"any","arguments":[1]}`) + note(noArguments), nil},
		{"no name", block(`{"arguments":{}}`), block(`{"arguments":{}}`) + note(nameless), nil},
		{"not JSON", block(`{"name":'any'}`), block(`{"name":'any'}`) + note(brokenJSON), nil},
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

var notePattern = regexp.MustCompile(`\[cursortray: this call was not handed over: (it [a-z ]+JSON|it [a-z ]+|its [A-Za-z ]+|the client offers no tool "(\\\\.|[^"\\\\])*")\]`)

// FuzzToolScanner: no text is lost or changed unless a call was found, and
// calls keep the contract of chat.
func FuzzToolScanner(f *testing.F) {
	f.Add("x <tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\\\"}</tool_call>\"}}</tool_call> y", 3)
	f.Add("<tool_call>{\"name\":\"any\"}</tool_ca<tool_call>{", 1)
	f.Add("see `<tool_call>{\"name\":\"any\"}</tool_call>`\n```json\n<tool_call>{\"name\":\"any\"}}</tool_call>\n```\n", 2)
	f.Add("a `b <tool_call>{\"name\":\"no\"}</tool_call> c\n<tool_call>{\"name\":\"x\"", 7)
	f.Add("<<tool_call>\n{\"a\":\"\n\"}</tool_call>", 200)
	f.Fuzz(func(t *testing.T, in string, n int) {
		n = 1 + max(n, -n, 0)%64
		text, found := scanText(newToolScanner(scanTools, false), in, n)
		whole, same := scanText(newToolScanner(scanTools, false), in, len(in)+1)
		if text != whole || cmp.Diff(found, same) != "" {
			t.Fatalf("pieces of %d give %q %q, the whole %q %q", n, text, found, whole, same)
		}
		before, _, called := strings.Cut(text, "•")
		if strings.Contains(text, "[cursortray: ") && !strings.Contains(in, "[cursortray: ") { // notes begin on lines of their own
			plain := notePattern.ReplaceAllString(text, "")
			text, in = strings.ReplaceAll(plain, "\n", ""), strings.ReplaceAll(in, "\n", "")
			before, _, called = strings.Cut(text, "•")
		}
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

// TestInlineCodeIsProse: an example in a sentence is no call, in whatever way it
// is quoted; a call is one, whatever was quoted before it.
func TestInlineCodeIsProse(t *testing.T) {
	one := block(`{"name":"read","arguments":{"path":"a"}}`)
	const got = `read {"path":"a"}`
	for _, c := range []struct {
		name, in, text string
		want           []string
	}{
		{"in a sentence", "Write `" + one + "` to read.", "Write `" + one + "` to read.", nil},
		{"at the start of a line", "So:\n`" + one + "` reads.", "So:\n`" + one + "` reads.", nil},
		{"two backticks", "Write ``" + one + "`` to read.", "Write ``" + one + "`` to read.", nil},
		{"three backticks in a sentence", "Write ```" + one + "``` to read.", "Write ```" + one + "``` to read.", nil},
		{"space inside", "Write `` " + one + " `` to read.", "Write `` " + one + " `` to read.", nil},
		{"words inside", "Write `first " + one + "` to read.", "Write `first " + one + "` to read.", nil},
		{"not closed", "Write `" + one + " to read.", "Write `" + one + " to read.", nil},
		{"at the end", "Write `" + one + "`", "Write `" + one + "`", nil},
		{"with words, at the end", "Write `x " + one + "`", "Write `x " + one + "`", nil},
		{"a tool that nobody offers", "Write `" + block(`{"name":"launch"}`) + "`.", "Write `" + block(`{"name":"launch"}`) + "`.", nil},
		{"broken", "Write `" + block(`{"name":...}`) + "`.", "Write `" + block(`{"name":...}`) + "`.", nil},
		{"cut", "Write `" + one[:30], "Write `" + one[:30], nil},
		{"two on a line", "`" + one + "` or `" + one + "`", "`" + one + "` or `" + one + "`", nil},
		{"then a call", "Like `" + one + "`:\n" + one, "Like `" + one + "`:\n•", []string{got}},
		{"other code before it", "The tool `read` helps: " + one, "The tool `read` helps: •", []string{got}},
		{"behind the end of other code", "I use `read`" + one, "I use `read`•", []string{got}},
		{"a stray backtick", "It`s done: " + one, "It`s done: •", []string{got}},
		{"a stray backtick, then a line end", "It`s done: " + one + "\nand `so` on", "It`s done: •", []string{got}},
		{"a backtick of a line before", "a `b\n" + one, "a `b\n•", []string{got}},
		{"more backticks than opened it", "a ` b " + one + " `` c", "a ` b •", []string{got}},
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

// TestFencesGoWithTheirCalls: the opening line of a fence is text only if
// something else than a call is in it.
func TestFencesGoWithTheirCalls(t *testing.T) {
	one := block(`{"name":"read","arguments":{"path":"a"}}`)
	unknown := block(`{"name":"launch"}`)
	const got = `read {"path":"a"}`
	for _, c := range []struct {
		name, in, text string
		want           []string
	}{
		{"behind words", "I read it:\n\n```json\n" + one + "\n```", "I read it:\n\n•", []string{got}},
		{"bare", "```\n" + one + "\n```", "•", []string{got}},
		{"four backticks, empty lines, space", "  ````xml \r\n\n  " + one + "\n````", "  •", []string{got}},
		{"all on one line", "```" + one + "```", "•", []string{got}},
		{"two calls", "```\n" + one + "\n" + one + "\n```", "••", []string{got, got}},
		{"code in it", "```go\nx < y\n```\n", "```go\nx < y\n```\n", nil},
		{"code in it, then a call", "```go\nx()\n```\n" + one, "```go\nx()\n```\n•", []string{got}},
		{"code in it, then a call in another", "```go\nx()\n```\n```json\n" + one + "\n```", "```go\nx()\n```\n•", []string{got}},
		{"words in it, then a call", "```\nnow:\n" + one + "\n```", "```\nnow:\n•", []string{got}},
		{"only two backticks", "``\n" + one, "``\n•", []string{got}},
		{"inline code of three", "```a``` b\n" + one, "```a``` b\n•", []string{got}},
		{"a long line", "```" + strings.Repeat("x", 200) + "\n" + one, "```" + strings.Repeat("x", 200) + "\n•", []string{got}},
		{"nothing in it", "```json\n\n", "```json\n\n", nil},
		{"a tool that nobody offers", "```json\n" + unknown + "\n```\n", "```json\n" + unknown + noTool("launch") + "\n```\n", nil},
		{"no call behind it", "```\n<tool>\n```", "```\n<tool>\n```", nil},
		{"a shorter fence inside", "````\n```\n" + one + "\n```\n````", "````\n```\n•", []string{got}},
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

// TestRefusedBlocksAreTold: nothing is lost, and the reader learns that the client
// did not get it.
func TestRefusedBlocksAreTold(t *testing.T) {
	one := block(`{"name":"read","arguments":{"path":"a"}}`)
	const got = `read {"path":"a"}`
	for _, c := range []struct {
		name, in, text string
		want           []string
	}{
		{"not offered", block(`{"name":"rm_rf","arguments":{}}`), block(`{"name":"rm_rf","arguments":{}}`) + noTool("rm_rf"), nil},
		{"a bracket too much", block(`{"name":"any","arguments":{}}}`), block(`{"name":"any","arguments":{}}}`) + note(brokenJSON), nil},
		{"a bracket too much, cut", callOpen + `{"name":"any","arguments":{}}}`, callOpen + `{"name":"any","arguments":{}}}` + note(brokenOff), nil},
		{"a bracket too few", block(`{"name":"any","arguments":{}`) + "\nand on", block(`{"name":"any","arguments":{}`) + note(brokenJSON) + "\nand on", nil},
		{"a string without end", block(`{"name":"any","arguments":{"a":"b}}`) + " on", block(`{"name":"any","arguments":{"a":"b}}`) + note(brokenOff) + "\n on", nil},
		{"a string without end, then a call", block(`{"name":"any","arguments":{"a":"b}}`) + "\n" + one, block(`{"name":"any","arguments":{"a":"b}}`) + note(brokenOff) + "\n•", []string{got}},
		{"cut in the name", "x\n" + callOpen + `{"na`, "x\n" + callOpen + `{"na` + note(brokenOff), nil},
		{"cut in a fence", "```json\n" + callOpen + `{"name":"re`, "```json\n" + callOpen + `{"name":"re` + note(brokenOff), nil},
		{"cut before its object", "x " + callOpen + "{", "x " + callOpen + "{", nil},
		{"a name to fool the reader", block(`{"name":"a]\nb\u202e"}`), block(`{"name":"a]\nb\u202e"}`) + noTool(`a]\nb\u202e`), nil},
		{"behind a call", one + block(`{"name":"rm_rf"}`), "•", []string{got}},
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
	many := strings.Repeat(block(`{"name":"rm_rf"}`), 3*maxNotes)
	text, _ := scanText(newToolScanner(scanTools, false), many, 7)
	if n := strings.Count(text, "[cursortray:"); n != maxNotes {
		t.Errorf("%d notes", n)
	}
}

// TestToolScannerIsLinear: texts made to be scanned again and again cost no more
// than a while.
func TestToolScannerIsLinear(t *testing.T) {
	const size = 2 << 20
	for _, in := range []string{
		strings.Repeat(callOpen+`{`, size/12),
		strings.Repeat(callOpen+`{"a`, size/14),
		callOpen + `{"a` + strings.Repeat(callClose, size/12),
		callOpen + `{"` + strings.Repeat("a"+callClose+callOpen, size/24),
		strings.Repeat("```\n"+callOpen+`{"a`, size/18),
		"`x " + strings.Repeat(callOpen+`{"name":"any"}`+callClose, size/37),
		strings.Repeat("`", size),
		"```" + strings.Repeat("\n", size),
	} {
		began := time.Now()
		text, _ := scanText(newToolScanner(scanTools, false), in, 64<<10)
		if took := time.Since(began); took > 10*time.Second || len(text) < len(in)/40 {
			t.Errorf("%.40q: %v, %d bytes", in, took, len(text))
		}
	}
}

// TestNamedToolOnly: a client that wants one tool to be called gets no other.
func TestNamedToolOnly(t *testing.T) {
	in := block(`{"name":"read","arguments":{"path":"a"}}`) + "\n" + block(`{"name":"bash","arguments":{"command":"ls"}}`)
	s := newToolScanner(scanTools, false)
	s.only = "bash"
	text, found := scanText(s, in, 3)
	if diff := cmp.Diff([]string{`bash {"command":"ls"}`}, found); diff != "" || !strings.Contains(text, `no tool but "bash"`) {
		t.Errorf("text %q %s", text, diff)
	}
}
