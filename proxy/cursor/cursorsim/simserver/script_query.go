package simserver

import (
	"google.golang.org/protobuf/encoding/protowire"

	"cursortray/proxy/cursor/cursorpb"
)

// Ask asks a question and waits for the answer, which the checks may look at.
func Ask(m *cursorpb.InteractionQuery, checks ...func(*cursorpb.InteractionResponse) error) Step {
	return func(r *Run) error {
		q, err := r.Ask(m)
		if err != nil {
			return err
		}
		answer, err := q.Wait()
		for _, check := range checks {
			if err == nil {
				err = check(answer)
			}
		}
		return err
	}
}

// AskKind asks a question with nothing in it, by the number of its kind, which
// need not exist.
func AskKind(number int32, checks ...func(*cursorpb.InteractionResponse) error) Step {
	return func(r *Run) error {
		m := &cursorpb.InteractionQuery{}
		if err := decodeField(m, protowire.Number(number)); err != nil {
			return err
		}
		return Ask(m, checks...)(r)
	}
}
