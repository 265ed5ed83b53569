package agentrpc

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// FuzzExec puts any request for work through the mapping and back: there is
// always one whole answer in the right form, or a call that an offered tool
// takes, whatever its result is.
func FuzzExec(f *testing.F) {
	for _, n := range natives() {
		encoded, err := proto.Marshal(n.exec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded, "/w/a.go:3:x\nError: exit code 2")
	}
	for _, exec := range everyKind() {
		encoded, err := proto.Marshal(exec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded, "\xff[DIR] a/\n  b")
	}
	call, err := proto.Marshal(callOf("mcp_cursortray_bash", "bash", map[string]any{"command": "ls", "x": []byte{0xff}}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(call, `["a"]`)
	var reqs []*chat.Request
	var boxes []*toolbox
	for _, set := range []string{"camel", "capital", "few", "patch", "long", "lines", "none"} {
		req := asks(toolSet(f, set)...)
		box, err := newToolbox(req)
		if err != nil {
			f.Fatal(err)
		}
		reqs, boxes = append(reqs, req), append(boxes, box)
	}
	f.Fuzz(func(t *testing.T, encoded []byte, result string) {
		var exec cursorpb.ExecServerMessage
		if proto.Unmarshal(encoded, &exec) != nil {
			return
		}
		for i, req := range reqs {
			plan := newExecMapper(settings{}, req, boxes[i]).plan(&exec)
			switch {
			case plan.fail != nil:
				t.Fatal(plan.fail)
			case plan.call == nil:
				checkAnswers(t, &exec, plan.answers)
			default:
				if !json.Valid(plan.call.arguments) || plan.call.arguments[0] != '{' {
					t.Fatalf("arguments %s", plan.call.arguments)
				}
				if exec.GetMcpArgs() == nil {
					checkCall(t, req, plan.call)
				}
				checkAnswers(t, &exec, plan.call.pending.answer(gave("c", result)))
				checkAnswers(t, &exec, plan.call.pending.refuse(result))
			}
		}
	})
}
