package openai

import (
	"crypto/rand"
	"net/http"

	"cursortray/proxy/chat"
	"cursortray/proxy/tokencount"
	"cursortray/proxy/turn"
)

// Responses answers POST /v1/responses. An error of reading the body that is a
// *chat.Error is answered as it is.
func (h *Handler) Responses(w http.ResponseWriter, r *http.Request) {
	decode := func(body []byte, unknown func(string)) (*turn.Call, *chat.Error) {
		return h.responsesCall(r.Header, body, unknown)
	}
	h.run.Serve(w, r, decode, writeResponsesError)
}

func (h *Handler) responsesCall(client http.Header, body []byte, unknown func(string)) (*turn.Call, *chat.Error) {
	req, err := decodeResponses(body, unknown, h.kept)
	if err != nil {
		return nil, err
	}
	response := &responseObject{
		identity: identity{id: responsePrefix + rand.Text(), created: h.run.Now().Unix(), model: req.Model},
		origins:  req.origins,
		sealed:   req.sealed,
		serial:   req.SerialTools,
		choice:   req.origins.choiceJSON(req.Choice),
	}
	if needsUsage(client) {
		response.input = tokencount.Estimate(&req.Request)
	}
	if req.stored {
		response.kept = h.kept
	}
	return &turn.Call{
		Dialect: chat.DialectResponses,
		Request: &req.Request,
		Stream:  req.stream,
		Encoder: func(write func([]byte) error) turn.Encoder { return newResponseStream(response, write) },
		Whole:   func(answer *chat.Response) []byte { return appendResponse(nil, response, answer) },
	}, nil
}
