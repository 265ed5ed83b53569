package openai

import (
	"crypto/rand"
	"net/http"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
)

// ChatCompletions answers POST /v1/chat/completions. An error of reading the
// body that is a *chat.Error is answered as it is.
func (h *Handler) ChatCompletions(w http.ResponseWriter, r *http.Request) {
	req, err := h.readChat(r)
	if err != nil {
		WriteError(w, r, err)
		h.run.Done(r.Context(), turn.Outcome{Err: err})
		return
	}
	answer := identity{id: "chatcmpl-" + rand.Text(), created: h.run.Now().Unix(), model: req.Model}
	req.Model = turn.PlainModel(req.Model)
	if req.stream {
		err = h.run.Stream(w, r, &req.Request, func(write func([]byte) error) turn.Encoder {
			return newChunks(answer, req.includeUsage, write)
		}, WriteError)
	} else {
		err = h.whole(w, r, req, answer)
	}
	h.run.Done(r.Context(), turn.Outcome{Model: answer.model, Stream: req.stream, Err: err})
}

// readChat reads a whole request before anything else happens.
func (h *Handler) readChat(r *http.Request) (*chatRequest, *chat.Error) {
	body, err := turn.ReadBody(r)
	if err != nil {
		return nil, err
	}
	req, err := decodeChat(body, h.run.Unknown(r))
	if err != nil {
		return nil, err
	}
	return req, turn.Hints(r.Header, &req.Request)
}

// whole answers with one JSON object.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, req *chatRequest, answer identity) *chat.Error {
	response, err := h.run.Collect(r.Context(), &req.Request)
	if err != nil {
		WriteError(w, r, err)
		return err
	}
	turn.WriteJSON(w, http.StatusOK, appendCompletion(nil, answer, response))
	return nil
}
