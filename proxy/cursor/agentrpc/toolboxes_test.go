package agentrpc

import (
	"fmt"
	"testing"

	"cursortray/proxy/chat"
)

func TestToolboxesAreRemembered(t *testing.T) {
	var boxes toolboxes
	request := func(choice chat.ToolChoice, list ...chat.Tool) *toolbox {
		t.Helper()
		box, err := boxes.of(&chat.Request{Tools: list, Choice: choice})
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	read := chat.Tool{Name: "read", Description: "Reads", Schema: []byte(`{"type":"object"}`)}
	first := request(chat.ToolChoice{}, read)
	same := request(chat.ToolChoice{Mode: chat.ToolNone}, read)
	if same.names != first.names || same.choice.Mode != chat.ToolNone || first.choice.Mode == chat.ToolNone {
		t.Errorf("the same tools: %+v and %+v", first, same)
	}
	for _, other := range []chat.Tool{
		{Name: "rea", Description: "dReads", Schema: read.Schema},
		{Name: read.Name, Description: "reads", Schema: read.Schema},
		{Name: read.Name, Description: read.Description, Schema: []byte(`{"type":"object","properties":{}}`)},
	} {
		if box := request(chat.ToolChoice{}, other); box.names == first.names {
			t.Errorf("%+v got the toolbox of %+v", other, read)
		}
	}
	for i := range 2 * maxToolboxes {
		request(chat.ToolChoice{}, chat.Tool{Name: fmt.Sprint("tool", i), Schema: read.Schema})
	}
	if n := len(boxes.recent); n != maxToolboxes {
		t.Errorf("%d are remembered", n)
	}
	bad := &chat.Request{Tools: []chat.Tool{{Name: "no good"}}}
	for range 2 {
		if _, err := boxes.of(bad); err == nil {
			t.Error("a tool that cannot be offered is offered")
		}
	}
}
