package agentrpc

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"cursortray/proxy/chat"
)

// fingerprint stands for a list of messages, as far as the service has seen
// them: roles, texts, images, calls with their arguments, and results, but
// neither reasoning nor ids, and whatever the borders of messages of one role.
// The zero value is the empty list.
type fingerprint [sha256.Size]byte

// with returns the fingerprint of the list with one more message.
func (f fingerprint) with(m chat.Message) fingerprint {
	h := sha256.New()
	for _, p := range m.Parts {
		h.Reset()
		h.Write(f[:])
		switch p := p.(type) {
		case chat.Text:
			fmt.Fprintf(h, "%d text %s", m.Role, p.Text)
		case chat.ToolUse:
			fmt.Fprintf(h, "%d use %s %s", m.Role, p.Name, p.Arguments)
		case chat.ToolResult:
			text, _ := json.Marshal(p.Content)
			fmt.Fprintf(h, "%d result %s", m.Role, text)
		default:
			continue
		}
		h.Sum(f[:0])
	}
	return f
}

// fingerprints returns those of all beginnings of a list; element i stands for
// messages[:i].
func fingerprints(messages []chat.Message) []fingerprint {
	all := make([]fingerprint, len(messages)+1)
	for i, m := range messages {
		all[i+1] = all[i].with(m)
	}
	return all
}
