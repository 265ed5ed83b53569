package chat

import (
	"iter"
	"strings"
)

// Response is a whole turn, for answers that are not streamed.
type Response struct {
	Text      string
	Reasoning string
	Calls     []ToolCall
	Finish    Finish
}

// Collect folds a turn into one Response. It is the only code path for answers
// that are not streamed, so that they equal the joined stream. The error is a
// *Error, and then there is no Response: half an answer is no answer. A
// sequence that ends without Finish is an error as well.
func Collect(turn iter.Seq2[Event, error]) (*Response, error) {
	var text, reasoning strings.Builder
	var calls []ToolCall
	for event, err := range turn {
		if err != nil {
			return nil, AsError(err)
		}
		switch e := event.(type) {
		case TextDelta:
			text.WriteString(e.Text)
		case ReasoningDelta:
			reasoning.WriteString(e.Text)
		case ToolCall:
			calls = append(calls, e)
		case Finish:
			return &Response{Text: text.String(), Reasoning: reasoning.String(), Calls: calls, Finish: e}, nil
		}
	}
	return nil, Errorf(BadGateway, "the answer broke off before its end")
}
