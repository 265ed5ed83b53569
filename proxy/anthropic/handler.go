package anthropic

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/tokencount"
	"cursortray/proxy/turn"
)

// Messages answers POST /v1/messages. An error of reading the body that is a
// *chat.Error is answered as it is.
func (h *Handler) Messages(w http.ResponseWriter, r *http.Request) {
	setRequestID(w.Header())
	var req *chat.Request
	decode := func(body []byte, unknown func(string)) (*turn.Call, *chat.Error) {
		call, err := messagesCall(body, unknown, w.Header().Get(requestIDHeader))
		if err == nil {
			req = call.Request
		}
		return call, err
	}
	h.run.Serve(w, r, decode, func(w http.ResponseWriter, r *http.Request, err *chat.Error) {
		WriteError(w, r, h.withSizes(r, req, err))
	})
}

func messagesCall(body []byte, unknown func(string), requestID string) (*turn.Call, *chat.Error) {
	req, err := decodeMessages(body, unknown)
	if err != nil {
		return nil, err
	}
	answer := identity{
		id: "msg_" + rand.Text(), model: req.Model, request: requestID, input: tokencount.Estimate(&req.Request),
	}
	return &turn.Call{
		Dialect: chat.DialectMessages,
		Request: &req.Request,
		Stream:  req.stream,
		Encoder: func(write func([]byte) error) turn.Encoder { return newEvents(answer, write) },
		Whole:   func(response *chat.Response) []byte { return appendMessage(nil, answer, response) },
	}, nil
}

// CountTokens answers POST /v1/messages/count_tokens, without asking anybody.
func (h *Handler) CountTokens(w http.ResponseWriter, r *http.Request) {
	setRequestID(w.Header())
	body, err := turn.ReadBody(r)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	req, err := decodeMessages(body, h.run.Unknown(r))
	if err != nil {
		WriteError(w, r, err)
		return
	}
	answer := append([]byte(`{"input_tokens":`), strconv.Itoa(h.tokens.Request(&req.Request))...)
	turn.WriteJSON(w, http.StatusOK, append(answer, '}'))
}

// tooLong is what clients look for before they shorten the conversation.
const tooLong = "prompt is too long: "

// withSizes puts sizes into the error for a conversation that does not fit,
// because Claude Code recognizes it by "N tokens > M maximum". The upstream
// knows that it is too long, so our estimate of N is above M at least.
func (h *Handler) withSizes(r *http.Request, req *chat.Request, err *chat.Error) *chat.Error {
	if req == nil || err.Kind != chat.TooLong || strings.Contains(err.Message, tooLong) {
		return err
	}
	models, fault := h.run.Models(r.Context())
	if fault != nil {
		return err
	}
	for _, m := range models {
		if m.ID == req.Model && m.ContextWindow > 0 {
			sized := *err
			sized.Message = fmt.Sprintf("%s%d tokens > %d maximum (%s)",
				tooLong, max(h.tokens.Request(req), m.ContextWindow+1), m.ContextWindow, err.Message)
			return &sized
		}
	}
	return err
}
