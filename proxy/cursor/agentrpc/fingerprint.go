package agentrpc

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
)

// fingerprint stands for a list of messages, as far as the service has seen
// them: roles, texts, images, calls with their arguments, and results, but
// neither reasoning nor ids, and whatever the borders of messages of one role.
// The zero value is the empty list.
//
// Clients send an answer back in a form of their own: text and calls in one
// message or in two, arguments in another order, white space around the text
// gone. None of that makes another conversation. Anything else does, so that
// two conversations that begin alike part at their first difference.
type fingerprint [sha256.Size]byte

// with returns the fingerprint of the list with one more message of the
// assistant. Results of tools are understood in fingerprints only, which sees
// the calls that they belong to.
func (f fingerprint) with(m chat.Message) fingerprint { return f.extend(m, nil) }

// fingerprints returns those of all beginnings of a list; element i stands for
// messages[:i].
func fingerprints(messages []chat.Message) []fingerprint {
	all := make([]fingerprint, len(messages)+1)
	calls := make(map[string]int) // number of the call that an id means, from 1
	for i, m := range messages {
		all[i+1] = all[i].extend(m, calls)
		for _, part := range m.Parts {
			if use, ok := part.(chat.ToolUse); ok {
				calls[use.ID] = len(calls) + 1
			}
		}
	}
	return all
}

func (f fingerprint) extend(m chat.Message, calls map[string]int) fingerprint {
	var texts []string
	for _, part := range m.Parts {
		if r, ok := part.(chat.ToolResult); ok {
			f = f.item(m.Role, "result", func(h hash.Hash) { hashResult(h, r, calls[r.CallID]) })
		}
		if t, ok := part.(chat.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	if m.Role == chat.Assistant { // one text, whatever stood between its pieces
		texts = []string{strings.Join(texts, "")}
	}
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			f = f.item(m.Role, "text", func(h hash.Hash) { hashField(h, text) })
		}
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case chat.Image:
			f = f.item(m.Role, "image", func(h hash.Hash) { hashImage(h, part) })
		case chat.ToolUse:
			f = f.item(m.Role, "call", func(h hash.Hash) {
				hashField(h, part.Name)
				hashField(h, clienttool.Canonical(part.Arguments))
			})
		}
	}
	return f
}

// item chains one more item to the list.
func (f fingerprint) item(role chat.Role, kind string, content func(hash.Hash)) fingerprint {
	h := sha256.New()
	h.Write(f[:])
	h.Write([]byte{byte(role)})
	hashField(h, kind)
	content(h)
	var next fingerprint
	h.Sum(next[:0])
	return next
}

// hashField writes a text so that no other sequence of texts gives the same
// bytes.
func hashField(h hash.Hash, text string) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(text)))
	h.Write(size[:])
	h.Write([]byte(text))
}

func hashImage(h hash.Hash, image chat.Image) {
	hashField(h, image.MIME)
	hashField(h, string(image.Data))
}

// hashResult tells the results of two calls apart by the calls' places, since
// ids do not count.
func hashResult(h hash.Hash, r chat.ToolResult, call int) {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(call))
	h.Write(number[:])
	for _, part := range r.Content {
		switch part := part.(type) {
		case chat.Text:
			hashField(h, "text")
			hashField(h, part.Text)
		case chat.Image:
			hashField(h, "image")
			hashImage(h, part)
		}
	}
	if r.Failed {
		hashField(h, "failed")
	}
}
