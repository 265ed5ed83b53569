package chattest

import (
	"crypto/rand"

	"cursortray/proxy/chat"
)

// Scripted makes a fake that plays a script as an upstream would, so that Suite
// can be put to what stands in front of back-ends, too.
func Scripted(script Script) Instance {
	b := NewFunc(func(req *chat.Request) Turn {
		last := req.Messages[len(req.Messages)-1].Parts[0]
		if _, ok := last.(chat.ToolResult); ok {
			return turnOf(script.After)
		}
		return turnOf(script.Answer)
	})
	return Instance{Backend: b, Live: b.Live}
}

// turnOf is the turn of the fake that equals moves of an upstream.
func turnOf(moves []Move) Turn {
	var turn Turn
	var finish chat.Finish
	for _, move := range moves {
		switch m := move.(type) {
		case Say:
			turn = append(turn, Text(m.Text))
		case Think:
			turn = append(turn, Reasoning(m.Text))
		case Use:
			arguments := m.Arguments
			if arguments == "" {
				arguments = "{}"
			}
			turn = append(turn, Call("call_"+rand.Text(), m.Name, arguments))
			finish.Reason = chat.ToolCalls
		case Report:
			finish.Usage = &m.Usage
		case Die:
			return append(turn, Fail(chat.Errorf(chat.BadGateway, "the upstream broke off")))
		case Hang:
			return append(turn, Silence())
		}
	}
	return append(turn, End(finish))
}
