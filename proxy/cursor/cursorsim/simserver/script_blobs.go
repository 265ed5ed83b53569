package simserver

import (
	"fmt"

	"cursortray/proxy/cursor/cursorpb"
)

// SetBlob gives the client a blob and waits until it has it.
func SetBlob(data []byte) Step {
	return func(r *Run) error {
		_, err := r.SetBlob(data)
		return err
	}
}

// GetBlob reads a blob and hands it to the checks; one that the client does not
// have ends the run as the service does it.
func GetBlob(id []byte, checks ...func([]byte) error) Step {
	return func(r *Run) error {
		data, ok, err := r.GetBlob(id)
		if err == nil && !ok {
			err = Failure("blob not found")
		}
		for _, check := range checks {
			if err == nil {
				err = check(data)
			}
		}
		return err
	}
}

// MissingBlob reads a blob that no client has, and goes on.
func MissingBlob() Step {
	return func(r *Run) error {
		_, _, err := r.GetBlob(BlobID([]byte("a blob that nobody has")))
		return err
	}
}

// GetBlobs asks for many blobs at once and only then waits for the answers.
func GetBlobs(ids ...[]byte) Step {
	return func(r *Run) error {
		asked, err := r.askForBlobs(ids)
		if err != nil {
			return err
		}
		for _, kv := range asked {
			if err := kv.wait(); err != nil {
				return err
			}
		}
		return nil
	}
}

// RequestBlobs asks for many blobs and does not wait; the run does before it
// ends.
func RequestBlobs(ids ...[]byte) Step {
	return func(r *Run) error {
		_, err := r.askForBlobs(ids)
		return err
	}
}

func (r *Run) askForBlobs(ids [][]byte) ([]*blobRequest, error) {
	var asked []*blobRequest
	for _, id := range ids {
		kv, err := r.askBlob(&cursorpb.KvServerMessage{Message: &cursorpb.KvServerMessage_GetBlobArgs{GetBlobArgs: &cursorpb.GetBlobArgs{BlobId: id}}})
		if err != nil {
			return nil, err
		}
		asked = append(asked, kv)
	}
	return asked, nil
}

// Saved gives the client a state of the conversation that refers to these
// blobs, which it is given first. used and window are the token details; 0 and
// 0 for a state without them.
func Saved(used, window int, blobs ...string) Step {
	return func(r *Run) error {
		state := &cursorpb.ConversationStateStructure{}
		for _, blob := range blobs {
			id, err := r.SetBlob([]byte(blob))
			if err != nil {
				return err
			}
			state.RootPromptMessagesJson = append(state.RootPromptMessagesJson, id)
		}
		if used != 0 || window != 0 {
			state.TokenDetails = &cursorpb.ConversationTokenDetails{UsedTokens: uint32(used), MaxTokens: uint32(window)}
		}
		return r.Checkpoint(state)
	}
}

// StateEquals fails the run unless the client brought this state.
func StateEquals(raw []byte) Step {
	return func(r *Run) error {
		if got := r.request.GetConversationState(); string(got) != string(raw) {
			return fmt.Errorf("the client brought a state of %d bytes, want one of %d", len(got), len(raw))
		}
		return nil
	}
}
