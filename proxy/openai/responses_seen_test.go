package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/sse"
)

// responseEvent is what the tests read of one event.
type responseEvent struct {
	Type     string        `json:"type"`
	Sequence *int          `json:"sequence_number"`
	Response *responseBody `json:"response"`
	Item     *outputItem   `json:"item"`
	Part     *outputPart   `json:"part"`

	OutputIndex  *int   `json:"output_index"`
	ItemID       string `json:"item_id"`
	ContentIndex *int   `json:"content_index"`
	SummaryIndex *int   `json:"summary_index"`

	Delta     string  `json:"delta"`
	Text      *string `json:"text"`
	Arguments *string `json:"arguments"`
	Input     *string `json:"input"`
}

type responseBody struct {
	ID         string `json:"id"`
	Object     string `json:"object"`
	CreatedAt  int64  `json:"created_at"`
	Status     string `json:"status"`
	Model      string `json:"model"`
	Error      *struct{ Code, Message string }
	Incomplete *struct{ Reason string } `json:"incomplete_details"`
	Output     []outputItem             `json:"output"`
	Usage      json.RawMessage          `json:"usage"`
}

type outputItem struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	Status    string       `json:"status"`
	Role      string       `json:"role"`
	Content   []outputPart `json:"content"`
	Summary   []outputPart `json:"summary"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name"`
	Namespace string       `json:"namespace"`
	Arguments *string      `json:"arguments"`
	Input     *string      `json:"input"`
}

type outputPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// said returns the item's text, summary, arguments or input.
func (it outputItem) said() string {
	var all string
	for _, part := range append(slices.Clone(it.Content), it.Summary...) {
		all += part.Text
	}
	for _, text := range []*string{it.Arguments, it.Input} {
		if text != nil {
			all += *text
		}
	}
	return all
}

// responseReader follows a stream as the strictest of the SDKs do, and
// complains about everything that one of them would stumble over.
type responseReader struct {
	t      *testing.T
	seen   answerSeen
	events []responseEvent
	id     string
	open   *outputItem
	part   bool
	joined string // deltas of the open item
	done   []outputItem
	final  *responseBody
}

func readResponseStream(t *testing.T, w *httptest.ResponseRecorder) *responseReader {
	t.Helper()
	messages, err := sse.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := &responseReader{t: t}
	for _, m := range messages {
		if m.Comment != "" {
			continue
		}
		var e responseEvent
		if err := json.Unmarshal([]byte(m.Data), &e); err != nil {
			t.Fatalf("%s: %v", m.Data, err)
		}
		if m.Event != e.Type || e.Sequence == nil || *e.Sequence != len(r.events) || r.final != nil {
			t.Errorf("event %d is %s, in a block of type %q, after the end: %v", len(r.events), m.Data, m.Event, r.final != nil)
		}
		r.events = append(r.events, e)
		r.take(e)
	}
	return r
}

func (r *responseReader) take(e responseEvent) {
	kind := strings.TrimPrefix(e.Type, "response.")
	if (r.id == "") != (kind == "created") {
		r.t.Errorf("%s at the wrong place", e.Type)
	}
	switch {
	case e.Response != nil:
		r.state(kind, e.Response)
	case kind == "output_item.added":
		r.added(e)
	case r.open == nil || *e.OutputIndex != len(r.done) || e.Item == nil && e.ItemID != r.open.ID:
		r.t.Errorf("%s speaks of no open item: %+v", e.Type, e)
	case kind == "output_item.done":
		if e.Item.ID != r.open.ID || e.Item.Type != r.open.Type || e.Item.CallID != r.open.CallID || e.Item.said() != r.joined {
			r.t.Errorf("the item %+v began as %+v, with deltas %q", e.Item, r.open, r.joined)
		}
		r.done, r.open, r.part = append(r.done, *e.Item), nil, false
	default:
		r.content(kind, e)
	}
}

func (r *responseReader) state(kind string, body *responseBody) {
	if body.Object != "response" || body.ID == "" || r.id != "" && body.ID != r.id || body.CreatedAt != clock().Unix() || body.Output == nil {
		r.t.Errorf("%s carries %+v", kind, body)
	}
	r.id = body.ID
	want := kind
	if kind == "created" {
		want = "in_progress"
	}
	if body.Status != want {
		r.t.Errorf("%s has the status %s", kind, body.Status)
	}
	switch kind {
	case "completed", "incomplete", "failed":
		if kind != "failed" && r.open != nil || !reflect.DeepEqual(body.Output, append([]outputItem{}, r.done...)) {
			r.t.Errorf("%s with the output %+v after the items %+v; open: %+v", kind, body.Output, r.done, r.open)
		}
		r.final = body
		open := ""
		if r.open != nil {
			open = r.joined
		}
		r.seen.finishResponse(body, open)
	}
}

func (r *responseReader) added(e responseEvent) {
	if r.open != nil || *e.OutputIndex != len(r.done) || e.Item.ID == "" || e.Item.Status != "in_progress" || e.Item.said() != "" {
		r.t.Errorf("%+v is added after %+v", e.Item, r.open)
	}
	r.open, r.joined = e.Item, ""
}

// content takes the events about the inside of an item.
func (r *responseReader) content(kind string, e responseEvent) {
	group, what, _ := strings.Cut(kind, ".")
	want := map[string]string{
		"content_part": "message", "output_text": "message", "reasoning_summary_part": "reasoning", "reasoning_summary_text": "reasoning",
		"function_call_arguments": "function_call", "custom_tool_call_input": "custom_tool_call",
	}[group]
	if want != r.open.Type || (e.ContentIndex != nil) != (want == "message") || (e.SummaryIndex != nil) != (want == "reasoning") {
		r.t.Errorf("%s in an item of type %s: %+v", kind, r.open.Type, e)
	}
	switch {
	case strings.HasSuffix(group, "_part"):
		if e.Part == nil || r.part != (what == "done") || e.Part.Text != r.joined {
			r.t.Errorf("%s with the part %+v after %q", kind, e.Part, r.joined)
		}
		r.part = true
	case what == "delta":
		if e.Delta == "" || r.part != (e.ContentIndex != nil || e.SummaryIndex != nil) {
			r.t.Errorf("%s without text or before its part", kind)
		}
		r.joined += e.Delta
	case what == "done":
		for _, text := range []*string{e.Text, e.Arguments, e.Input} {
			if text != nil && *text != r.joined {
				r.t.Errorf("%s says %q after %q", kind, *text, r.joined)
			}
		}
	}
}

// finishResponse reads a whole response into the form of the other dialect, and
// adds the text of an item that was left open.
func (a *answerSeen) finishResponse(body *responseBody, open string) {
	for _, it := range body.Output {
		switch it.Type {
		case "message":
			a.text += it.said()
		case "reasoning":
			a.reasoning += it.said()
		default:
			a.ids, a.names, a.arguments = append(a.ids, it.CallID), append(a.names, it.Name), append(a.arguments, it.said())
		}
	}
	a.text += open
	a.usage = string(body.Usage)
	a.ended = body.Status != "failed"
	switch {
	case body.Status == "failed":
		a.fault = body.Error.Code
	case body.Incomplete != nil:
		a.finish = map[string]string{"max_output_tokens": "length", "content_filter": "content_filter"}[body.Incomplete.Reason]
	case len(a.ids) > 0:
		a.finish = "tool_calls"
	default:
		a.finish = "stop"
	}
}

func readWholeResponse(t *testing.T, w *httptest.ResponseRecorder) answerSeen {
	t.Helper()
	var out responseBody
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 || out.Object != "response" {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	var seen answerSeen
	seen.finishResponse(&out, "")
	return seen
}

// askResponse returns a request with the given members, and a model and an
// input unless they say otherwise.
func askResponse(members string) string {
	for _, member := range []string{`"model":"m"`, `"input":"hi"`} {
		name, _, _ := strings.Cut(member, ":")
		if !strings.Contains(members, name+":") {
			members += "," + member
		}
	}
	return "{" + strings.TrimPrefix(members, ",") + "}"
}

func postResponse(h *Handler, body string) *httptest.ResponseRecorder {
	return postTo(h.Responses, body)
}

func postTo(serve http.HandlerFunc, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	serve(w, httptest.NewRequest("POST", "/", strings.NewReader(body)))
	return w
}

func streamedResponse(t *testing.T, members string, turn ...chattest.Step) *responseReader {
	t.Helper()
	w := postResponse(newHandler(chattest.New(turn)), askResponse(members+`,"stream":true`))
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Fatal(fmt.Sprint("status ", w.Code, ": ", w.Body))
	}
	return readResponseStream(t, w)
}
