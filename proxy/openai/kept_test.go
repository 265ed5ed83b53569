package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// The AI SDK sends of an answer only the ids of its items, unless it is told
// store: false.
func TestReferencesToItemsOfAnAnswer(t *testing.T) {
	answer := chattest.Turn{chattest.Reasoning("hm"), chattest.Text("It is ", "\"so\""), chattest.Call("c1", "team__note", `{"input":"a\nb"}`), chattest.Finish(chat.ToolCalls)}
	want := []chat.Message{
		user(say("hi")),
		assistant(chat.Reasoning{Text: "hm"}, say(`It is "so"`), chat.ToolUse{ID: "c1", Name: "team__note", Arguments: `{"input":"a\nb"}`}),
		user(chat.ToolResult{CallID: "c1", Content: []chat.Part{say("done")}}),
	}
	for _, stream := range []bool{false, true} {
		b := chattest.New(answer, answer, answer)
		h := newHandler(b)
		w := postResponse(h, askResponse(fmt.Sprintf(`%s,"stream":%v`, responseTools, stream)))
		var body *responseBody
		if stream {
			body = readResponseStream(t, w).final
		} else {
			body = &responseBody{}
			if err := json.Unmarshal(w.Body.Bytes(), body); err != nil {
				t.Fatalf("%s: %v", w.Body, err)
			}
		}
		input := `{"role":"user","content":"hi"}`
		for _, it := range body.Output {
			// The same one twice is one.
			input += fmt.Sprintf(`,{"type":"item_reference","id":%q},{"id":%[1]q}`, it.ID)
		}
		input += `,{"type":"custom_tool_call_output","call_id":"c1","output":"done"}`
		w = postResponse(h, askResponse(responseTools+`,"input":[`+input+`]`))
		if w.Code != 200 {
			t.Fatalf("stream %v: %d %s", stream, w.Code, w.Body)
		}
		if diff := cmp.Diff(want, b.Last().Messages); diff != "" {
			t.Errorf("stream %v: %s", stream, diff)
		}
	}
}

func TestNothingIsKeptForAClientThatKeepsItself(t *testing.T) {
	h := newHandler(chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)}))
	readResponseStream(t, postResponse(h, askResponse(`"store":false,"stream":true`)))
	if n := len(h.kept.items); n != 0 {
		t.Errorf("%d items are kept", n)
	}
}

func TestOldItemsMakeRoom(t *testing.T) {
	k := newKeptItems(100)
	for i := range 50 {
		k.add(fmt.Sprint(i), []byte(strings.Repeat("x", 30)))
	}
	k.add("long", []byte(strings.Repeat("x", 101)))
	if k.get("46") != nil || k.get("long") != nil || k.get("47") == nil || k.get("49") == nil {
		t.Errorf("the newest three should be there: %d", len(k.items))
	}
	if len(k.ids) != 3 || len(k.items) != 3 || k.bytes != 90 {
		t.Errorf("%d ids, %d items, %d bytes", len(k.ids), len(k.items), k.bytes)
	}
}
