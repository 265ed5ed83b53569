package simserver

import (
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// blobRequest is a read or a write of a blob that the client keeps.
type blobRequest struct {
	run     *Run
	id      uint32
	message *cursorpb.KvServerMessage
	stalled bool // asked while the server did not read
	late    bool // asked when the client had ended its half of the stream
	done    chan struct{}

	answered bool
	answer   *cursorpb.KvClientMessage
}

// BlobID is the id of a blob.
func BlobID(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// GetBlob reads a blob of the client. ok is false if the client says that it
// does not have it.
func (r *Run) GetBlob(id []byte) (data []byte, ok bool, err error) {
	kv, err := r.askBlob(&cursorpb.KvServerMessage{Message: &cursorpb.KvServerMessage_GetBlobArgs{GetBlobArgs: &cursorpb.GetBlobArgs{BlobId: id}}})
	if err != nil {
		return nil, false, err
	}
	return kv.blob()
}

// SetBlob gives the client a blob to keep and returns its id.
func (r *Run) SetBlob(data []byte) (id []byte, err error) {
	kv, err := r.askSetBlob(data)
	if err == nil {
		err = kv.wait()
	}
	return BlobID(data), err
}

func (r *Run) askSetBlob(data []byte) (*blobRequest, error) {
	return r.askBlob(&cursorpb.KvServerMessage{Message: &cursorpb.KvServerMessage_SetBlobArgs{
		SetBlobArgs: &cursorpb.SetBlobArgs{BlobId: BlobID(data), BlobData: data},
	}})
}

// askBlob sends a request and does not wait.
func (r *Run) askBlob(m *cursorpb.KvServerMessage) (*blobRequest, error) {
	r.mu.Lock()
	m.Id = r.nextID
	r.nextID++
	r.sequence++
	kv := &blobRequest{run: r, id: m.Id, message: m, stalled: r.paused, late: r.closed, done: make(chan struct{})}
	r.kvs = append(r.kvs, kv)
	r.mu.Unlock()
	return kv, r.Send(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_KvServerMessage{KvServerMessage: m}})
}

// wait waits for the answer.
func (kv *blobRequest) wait() error {
	r := kv.run
	if r.await(kv.done, r.rules.AnswerWithin) {
		return nil
	}
	if kv.late {
		return errHalfClosed
	}
	if r.ctx.Err() == nil {
		r.violate("kv-unanswered", fmt.Sprintf("blob request %d got no answer", kv.id))
		return &RunError{Code: "deadline_exceeded", Message: "Error"}
	}
	return r.gone()
}

// blob waits for the answer to a read.
func (kv *blobRequest) blob() (data []byte, ok bool, err error) {
	if err := kv.wait(); err != nil {
		return nil, false, err
	}
	result := kv.answer.GetGetBlobResult()
	return result.GetBlobData(), result != nil && result.BlobData != nil, nil
}

// blobAnswer takes an answer: of the same number and kind, each in its turn.
func (r *Run) blobAnswer(m *cursorpb.KvClientMessage) {
	var kv *blobRequest
	for _, asked := range r.kvs {
		if asked.id == m.GetId() {
			kv = asked
			break
		}
		if !asked.answered {
			r.violate("kv-order", fmt.Sprintf("the answer to blob request %d before that to %d", m.GetId(), asked.id))
		}
	}
	switch {
	case kv == nil:
		r.violate("kv-unknown", fmt.Sprintf("an answer to blob request %d, which was not asked", m.GetId()))
		return
	case kv.answered:
		r.violate("kv-doubled", fmt.Sprintf("a second answer to blob request %d", kv.id))
		return
	case kv.message.GetGetBlobArgs() != nil && m.GetGetBlobResult() == nil, kv.message.GetSetBlobArgs() != nil && m.GetSetBlobResult() == nil:
		r.violate("kv-field", fmt.Sprintf("blob request %d was answered in another field than it was asked in", kv.id))
	}
	kv.answered, kv.answer = true, m
	if set := kv.message.GetSetBlobArgs(); set != nil && m.GetSetBlobResult().GetError() == nil {
		r.sim.runs.keep(r.talk, set.GetBlobId())
	}
	if get := kv.message.GetGetBlobArgs(); get != nil {
		r.checkBlob(get.GetBlobId(), m.GetGetBlobResult())
	}
	close(kv.done)
}

// checkBlob: what the client took is still there and unchanged.
func (r *Run) checkBlob(id []byte, result *cursorpb.GetBlobResult) {
	if !r.sim.runs.kept(r.talk, id) {
		return
	}
	switch {
	case result == nil:
	case result.BlobData == nil:
		r.violate("blob-lost", fmt.Sprintf("the client no longer has the blob %.8x of this conversation", id))
	case string(BlobID(result.GetBlobData())) != string(id):
		r.violate("blob-changed", fmt.Sprintf("the blob %.8x has other content than it was given", id))
	}
}

// Checkpoint gives the client the state of the conversation, and remembers it:
// the next run must bring it back byte for byte.
func (r *Run) Checkpoint(state *cursorpb.ConversationStateStructure) error {
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode a checkpoint: %w", err)
	}
	return r.CheckpointBytes(raw)
}

// CheckpointBytes is Checkpoint with a state that is encoded already.
func (r *Run) CheckpointBytes(raw []byte) error {
	r.sim.runs.checkpoint(r.talk, raw)
	return r.Send(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_ConversationCheckpointUpdate{ConversationCheckpointUpdate: raw}})
}
