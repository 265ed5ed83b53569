package agentrpc

import (
	"context"
	"crypto/sha256"
	"maps"
	"time"

	"cursortray/proxy/chat"
)

// conversation is what is kept between the runs of one conversation. One run at
// a time has it; between runs it is on the shelf. Whoever takes it from there
// waits for settled before looking at more than the first group of fields.
type conversation struct {
	name    string // stays the same
	id      string // of the service's side; changes when that is given up
	session string // the client's own id, a hint; may be empty
	// surroundings is the hash of the request context: two conversations of
	// one session that differ in it have different tasks.
	surroundings [sha256.Size]byte
	print        fingerprint // the messages that state stands for
	resume       bool        // state is within a turn that broke off
	partial      bool        // and the client has a part of its answer
	used         time.Time
	age          int           // of the shelf: nothing comes back from before it was cleared
	settled      chan struct{} // closed when the rest is final; nil is final

	// state and blobs are of no use without each other.
	state  []byte // the newest checkpoint, byte for byte; nil is none
	blobs  blobStore
	window occupancy
	turns  int
}

// maxState is above all states seen of conversations that still worked.
const maxState = 100 << 20

// commit takes over a checkpoint and keeps only the blobs that it needs. A
// checkpoint that cannot be proven whole, or is too large, is not taken: the
// next run begins a new conversation with the client's history.
func (c *conversation) commit(checkpoint []byte) {
	c.state = nil
	if len(checkpoint) > 0 && !c.blobs.missing {
		graph := reachable(&c.blobs, checkpoint)
		c.blobs.trim(graph)
		if graph.whole && graph.bytes <= maxState {
			c.state = checkpoint
			return
		}
	}
	c.blobs = blobStore{}
}

// trim forgets what graph does not need, if graph is whole: else nobody knows
// what is needed.
func (s *blobStore) trim(graph reach) {
	if graph.whole {
		s.keep(graph.found)
	}
}

// rotate gives up the service's side. A conversation that made it fail once
// would do so again under its old id.
func (c *conversation) rotate() {
	c.id, c.state, c.resume, c.partial, c.blobs = newUUID(), nil, false, false, blobStore{}
}

func (c *conversation) isSettled() bool {
	if c.settled == nil {
		return true
	}
	select {
	case <-c.settled:
		return true
	default:
		return false
	}
}

// wait waits until the conversation is final.
func (c *conversation) wait(ctx context.Context) error {
	if c.settled == nil {
		return nil
	}
	select {
	case <-c.settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *conversation) size() int { return len(c.state) + c.blobs.bytes }

func newConversation(session string) *conversation {
	return &conversation{name: newUUID(), id: newUUID(), session: session}
}

// copied returns a conversation that does not change with c. Blobs themselves
// never change.
func (c *conversation) copied() *conversation {
	d := *c
	d.blobs.data = maps.Clone(c.blobs.data)
	return &d
}

// isPlain tells whether m is nothing but words and images of the user.
func isPlain(m chat.Message) bool {
	if m.Role != chat.User {
		return false
	}
	for _, p := range m.Parts {
		if _, ok := p.(chat.ToolResult); ok {
			return false
		}
	}
	return true
}
