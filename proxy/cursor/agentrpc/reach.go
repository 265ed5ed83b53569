package agentrpc

import (
	"crypto/sha256"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// reach finds what a checkpoint refers to, directly and through other blobs.
type reach struct {
	store *blobStore
	found map[string]bool
	bytes int
	whole bool // everything was found and understood
}

// maxDepth bounds states of subagents within states.
const maxDepth = 16

// reachable returns the ids of the blobs that a checkpoint needs and their size
// together with its own. It is not whole if a blob is missing or cannot be
// read: then nobody knows what else is needed.
func reachable(store *blobStore, checkpoint []byte) reach {
	r := reach{store: store, found: make(map[string]bool), bytes: len(checkpoint), whole: true}
	var state cursorpb.ConversationStateStructure
	if proto.Unmarshal(checkpoint, &state) != nil {
		r.whole = false
		return r
	}
	r.state(&state, 0)
	return r
}

func (r *reach) state(s *cursorpb.ConversationStateStructure, depth int) {
	if depth > maxDepth {
		r.whole = false
		return
	}
	for _, list := range [][][]byte{s.GetRootPromptMessagesJson(), s.GetTodos()} {
		r.all(list)
	}
	r.need(s.GetSummary())
	r.need(s.GetPlan())
	for _, id := range s.GetTurns() {
		r.turn(r.need(id))
	}
	for _, id := range s.GetSummaryArchives() {
		r.archive(r.need(id))
	}
	for _, sub := range s.GetSubagentStates() {
		r.state(sub.GetConversationState(), depth+1)
	}
	for _, id := range s.GetSubagentStateRefs() {
		var sub cursorpb.SubagentPersistedState
		if r.decode(r.need(id), &sub) {
			r.state(sub.GetConversationState(), depth+1)
		}
	}
	r.perhaps(s)
}

// perhaps keeps what may be an id, in fields of which nobody has said so.
func (r *reach) perhaps(s *cursorpb.ConversationStateStructure) {
	var ids [][]byte
	ids = append(ids, s.GetTurnsOld()...)
	ids = append(ids, s.GetSummaryArchive())
	for _, content := range s.GetFileStates() {
		ids = append(ids, content)
	}
	for _, file := range s.GetFileStatesV2() {
		ids = append(ids, file.GetContent(), file.GetInitialContent())
	}
	for _, id := range ids {
		if _, ok := r.store.data[string(id)]; ok {
			r.need(id)
		}
	}
}

func (r *reach) turn(data []byte) {
	var turn cursorpb.ConversationTurnStructure
	if !r.decode(data, &turn) {
		return
	}
	if t := turn.GetAgentConversationTurn(); t != nil {
		r.userMessage(r.need(t.GetUserMessage()))
		r.all(t.GetSteps())
	}
	if t := turn.GetShellConversationTurn(); t != nil {
		r.need(t.GetShellCommand())
		r.need(t.GetShellOutput())
	}
}

func (r *reach) userMessage(data []byte) {
	var m cursorpb.UserMessage
	if !r.decode(data, &m) {
		return
	}
	r.need(m.GetSelectedContextBlob())
	for _, image := range m.GetSelectedContext().GetSelectedImages() {
		r.need(image.GetBlobId())
	}
}

func (r *reach) archive(data []byte) {
	var archive cursorpb.ConversationSummaryArchive
	if r.decode(data, &archive) {
		r.all(archive.GetSummarizedMessages())
		r.need(archive.GetSummaryMessage())
	}
}

func (r *reach) all(ids [][]byte) {
	for _, id := range ids {
		r.need(id)
	}
}

// need returns the content of a blob that has to be there; nil for no id.
func (r *reach) need(id []byte) []byte {
	if len(id) == 0 {
		return nil
	}
	data, ok := r.store.data[string(id)]
	if !ok {
		if len(id) == sha256.Size || !isInline(id) {
			r.whole = false
		}
		return nil
	}
	if !r.found[string(id)] {
		r.found[string(id)] = true
		r.bytes += len(data)
	}
	return data
}

func (r *reach) decode(data []byte, m proto.Message) bool {
	if data == nil {
		return false
	}
	if proto.Unmarshal(data, m) != nil {
		r.whole = false
		return false
	}
	return true
}
