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
	req, err := h.read(r)
	if err != nil {
		WriteError(w, r, err)
		h.run.Done(r.Context(), turn.Outcome{Err: err})
		return
	}
	answer := identity{
		id: "msg_" + rand.Text(), model: req.Model,
		request: w.Header().Get(requestIDHeader), input: tokencount.Estimate(&req.Request),
	}
	req.Model = turn.PlainModel(req.Model)
	if req.stream {
		err = h.stream(w, r, req, answer)
	} else {
		err = h.whole(w, r, req, answer)
	}
	h.run.Done(r.Context(), turn.Outcome{Model: answer.model, Stream: req.stream, Err: err})
}

// CountTokens answers POST /v1/messages/count_tokens, without asking anybody.
func (h *Handler) CountTokens(w http.ResponseWriter, r *http.Request) {
	setRequestID(w.Header())
	req, err := h.read(r)
	if err != nil {
		WriteError(w, r, err)
		return
	}
	body := append([]byte(`{"input_tokens":`), strconv.Itoa(h.tokens.Request(&req.Request))...)
	turn.WriteJSON(w, http.StatusOK, append(body, '}'))
}

// read reads a whole request before anything else happens.
func (h *Handler) read(r *http.Request) (*messagesRequest, *chat.Error) {
	body, err := turn.ReadBody(r)
	if err != nil {
		return nil, err
	}
	req, err := decodeMessages(body, h.run.Unknown(r))
	if err != nil {
		return nil, err
	}
	return req, turn.Hints(r.Header, &req.Request)
}

func (h *Handler) stream(w http.ResponseWriter, r *http.Request, req *messagesRequest, answer identity) *chat.Error {
	newEncoder := func(write func([]byte) error) turn.Encoder { return newEvents(answer, write) }
	return h.run.Stream(w, r, &req.Request, newEncoder, func(w http.ResponseWriter, r *http.Request, err *chat.Error) {
		WriteError(w, r, h.withSizes(r, req, err))
	})
}

// whole answers with one JSON object.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, req *messagesRequest, answer identity) *chat.Error {
	response, err := h.run.Collect(r.Context(), &req.Request)
	if err != nil {
		WriteError(w, r, h.withSizes(r, req, err))
		return err
	}
	turn.WriteJSON(w, http.StatusOK, appendMessage(nil, answer, response))
	return nil
}

// tooLong is what clients look for before they shorten the conversation.
const tooLong = "prompt is too long: "

// withSizes puts sizes into the error for a conversation that does not fit,
// because Claude Code recognizes it by "N tokens > M maximum". The upstream
// knows that it is too long, so our estimate of N is above M at least.
func (h *Handler) withSizes(r *http.Request, req *messagesRequest, err *chat.Error) *chat.Error {
	if err.Kind != chat.TooLong || strings.Contains(err.Message, tooLong) {
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
				tooLong, max(h.tokens.Request(&req.Request), m.ContextWindow+1), m.ContextWindow, err.Message)
			return &sized
		}
	}
	return err
}
