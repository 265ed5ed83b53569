package agentrpc

import (
	"unicode/utf8"

	"cursortray/proxy/cursor/cursorpb"
)

// codec is that of the messages, but for one thing: pieces of text and of
// reasoning, which are nearly all there is, are decoded without reflection. They
// took a third of the time of a whole answer.
type codec struct{ cursorpb.Codec }

func (c codec) Unmarshal(data []byte, message any) error {
	if m, ok := message.(*cursorpb.AgentServerMessage); ok {
		if text, field := delta(data); field != 0 {
			setDelta(m, text, field)
			return nil
		}
	}
	return c.Codec.Unmarshal(data, message)
}

// The fields on the way to the text, as the wire has them: the number, and 2 for
// what has a length.
const (
	updateField   = 1<<3 | 2
	textField     = 1<<3 | 2
	thinkingField = 4<<3 | 2
	wordsField    = 1<<3 | 2
)

// delta returns the text of a message that is a piece of text or of reasoning
// and nothing else; field 0 is any other message.
func delta(data []byte) (text []byte, field byte) {
	update, ok := only(data, updateField)
	if !ok || len(update) == 0 {
		return nil, 0
	}
	field = update[0]
	if field != textField && field != thinkingField {
		return nil, 0
	}
	inner, ok := only(update, field)
	if !ok {
		return nil, 0
	}
	if text, ok = only(inner, wordsField); !ok || !utf8.Valid(text) {
		return nil, 0
	}
	return text, field
}

// only returns the value of a message's one field. Sizes of three bytes and more
// are left to others.
func only(data []byte, field byte) (value []byte, ok bool) {
	if len(data) < 2 || data[0] != field {
		return nil, false
	}
	size, head := int(data[1]), 2
	if size >= 0x80 {
		if len(data) < 3 || data[2] >= 0x80 {
			return nil, false
		}
		size, head = size&0x7f|int(data[2])<<7, 3
	}
	return data[head:], len(data) == head+size
}

// setDelta makes m that message. What it is made of is one piece of memory.
func setDelta(m *cursorpb.AgentServerMessage, text []byte, field byte) {
	if field == textField {
		x := new(struct {
			message cursorpb.AgentServerMessage_InteractionUpdate
			update  cursorpb.InteractionUpdate
			kind    cursorpb.InteractionUpdate_TextDelta
			delta   cursorpb.TextDeltaUpdate
		})
		x.delta.Text = string(text)
		x.kind.TextDelta, x.update.Message, x.message.InteractionUpdate = &x.delta, &x.kind, &x.update
		m.Message = &x.message
		return
	}
	x := new(struct {
		message cursorpb.AgentServerMessage_InteractionUpdate
		update  cursorpb.InteractionUpdate
		kind    cursorpb.InteractionUpdate_ThinkingDelta
		delta   cursorpb.ThinkingDeltaUpdate
	})
	x.delta.Text = string(text)
	x.kind.ThinkingDelta, x.update.Message, x.message.InteractionUpdate = &x.delta, &x.kind, &x.update
	m.Message = &x.message
}
