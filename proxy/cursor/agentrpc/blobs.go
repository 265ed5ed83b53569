package agentrpc

import (
	"crypto/sha256"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// blobStore keeps the blobs of one conversation. Whoever has the conversation
// has the store; it is not safe for concurrent use.
type blobStore struct {
	data    map[string][]byte
	bytes   int
	missing bool // the service asked for one that is not here
}

func (s *blobStore) set(id, data []byte) {
	if s.data == nil {
		s.data = make(map[string][]byte)
	}
	if old, ok := s.data[string(id)]; ok {
		s.bytes -= len(old)
	}
	s.data[string(id)] = data
	s.bytes += len(data)
}

func (s *blobStore) get(id []byte) ([]byte, bool) {
	if data, ok := s.data[string(id)]; ok {
		return data, true
	}
	// Some ids are the content itself.
	if isInline(id) {
		return id, true
	}
	return nil, false
}

// isInline tells content apart from an id: no id of another length, and text
// where an id has bytes of any value.
func isInline(id []byte) bool {
	if len(id) == 0 || len(id) == sha256.Size || !utf8.Valid(id) {
		return false
	}
	for _, c := range string(id) {
		if !unicode.IsPrint(c) && !unicode.IsSpace(c) {
			return false
		}
	}
	return true
}

// keep forgets all blobs but those in ids.
func (s *blobStore) keep(ids map[string]bool) {
	for id, data := range s.data {
		if !ids[id] {
			s.bytes -= len(data)
			delete(s.data, id)
		}
	}
}

// answer serves a request of the service. There is an answer to every one; what
// is neither get nor set is answered in its own field.
func (s *blobStore) answer(kv *cursorpb.KvServerMessage) *cursorpb.AgentClientMessage {
	reply := &cursorpb.KvClientMessage{Id: kv.GetId()}
	switch m := kv.GetMessage().(type) {
	case *cursorpb.KvServerMessage_GetBlobArgs:
		result := &cursorpb.GetBlobResult{}
		if data, ok := s.get(m.GetBlobArgs.GetBlobId()); ok {
			result.BlobData = data
			if data == nil {
				result.BlobData = []byte{} // there, and empty
			}
		} else {
			s.missing = true
		}
		reply.Message = &cursorpb.KvClientMessage_GetBlobResult{GetBlobResult: result}
	case *cursorpb.KvServerMessage_SetBlobArgs:
		s.set(m.SetBlobArgs.GetBlobId(), m.SetBlobArgs.GetBlobData())
		reply.Message = &cursorpb.KvClientMessage_SetBlobResult{SetBlobResult: &cursorpb.SetBlobResult{}}
	default:
		if number := cursorpb.UnknownField(proto.Message(kv)); number != 0 {
			cursorpb.AddEmptyField(reply, number)
		}
	}
	return &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_KvClientMessage{KvClientMessage: reply}}
}
