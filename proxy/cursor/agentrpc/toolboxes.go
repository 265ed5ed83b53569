package agentrpc

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"cursortray/proxy/chat"
)

// toolboxes remembers the toolboxes of the last requests. Clients send the same
// tools with each request, dozens of them; to go through their schemas anew
// would be what such a request takes longest for, and every run that waits for
// a tool would have its own copy.
type toolboxes struct {
	mu     sync.Mutex
	recent []rememberedBox // newest last
}

type rememberedBox struct {
	tools [sha256.Size]byte
	box   *toolbox
}

const maxToolboxes = 8

func (t *toolboxes) of(req *chat.Request) (*toolbox, *chat.Error) {
	key := toolsHash(req.Tools)
	box := t.find(key)
	if box == nil {
		var err *chat.Error
		if box, err = newToolbox(req); err != nil {
			return nil, err
		}
		t.keep(rememberedBox{key, box})
	}
	own := *box
	own.choice = req.Choice
	return &own, nil
}

func (t *toolboxes) find(tools [sha256.Size]byte) *toolbox {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.recent, func(r rememberedBox) bool { return r.tools == tools })
	if i < 0 {
		return nil
	}
	found := t.recent[i]
	t.recent = append(slices.Delete(t.recent, i, i+1), found)
	return found.box
}

func (t *toolboxes) keep(r rememberedBox) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.recent) == maxToolboxes {
		t.recent = slices.Delete(t.recent, 0, 1)
	}
	t.recent = append(t.recent, r)
}

func toolsHash(tools []chat.Tool) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, tool := range tools {
		for _, text := range []string{tool.Name, tool.Description, string(tool.Schema)} {
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(text)))
			h.Write(size[:])
			h.Write([]byte(text))
		}
	}
	h.Sum(sum[:0])
	return sum
}
