package agentrpc

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorpb"
)

// settings are the choices that hold for all runs of a Backend. They do not
// change.
type settings struct {
	// env describes the machine and nothing of the user's disk. It is the same
	// in every run, since its bytes are part of the prompt cache's key.
	env *cursorpb.RequestContextEnv
	// systemInFront puts the system text in front of the user's text too, for
	// models that ignore the rule that carries it otherwise.
	systemInFront bool
	// rejectNative refuses the service's own kinds of work even where a tool of
	// the client could do them.
	rejectNative bool
}

// blob is content that belongs to a conversation. The service asks for it by
// its id.
type blob struct{ id, data []byte }

func newBlob(data []byte) blob {
	sum := sha256.Sum256(data)
	return blob{id: sum[:], data: data}
}

// opening is what a run begins with, beside the client's request.
type opening struct {
	conversation string // id, a UUID
	run          string // id, a UUID
	message      string // id of the user's message, a UUID
	model        cursor.Selection
	// state is the checkpoint that stands for the first known messages of the
	// request, byte for byte. Without one both are zero, and the messages
	// before the last travel as replay says.
	state  []byte
	known  int
	replay replay
	// resume goes on from the state without a message of the user.
	resume bool
}

// replay is a way to tell the service of messages that no state stands for.
type replay int

const (
	replayBlobs replay = iota // as prompt messages, each a blob
	replayText                // as a transcript in front of the user's text
)

// newUUID returns a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
