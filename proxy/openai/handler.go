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
	h.run.Serve(w, r, h.chatCall, WriteError)
}

func (h *Handler) chatCall(body []byte, unknown func(string)) (*turn.Call, *chat.Error) {
	req, err := decodeChat(body, unknown)
	if err != nil {
		return nil, err
	}
	answer := identity{id: "chatcmpl-" + rand.Text(), created: h.run.Now().Unix(), model: req.Model}
	return &turn.Call{
		Dialect: chat.DialectChat,
		Request: &req.Request,
		Stream:  req.stream,
		Encoder: func(write func([]byte) error) turn.Encoder { return newChunks(answer, req.includeUsage, write) },
		Whole:   func(response *chat.Response) []byte { return appendCompletion(nil, answer, response) },
	}, nil
}
