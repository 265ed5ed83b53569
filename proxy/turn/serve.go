package turn

import (
	"net/http"

	"cursortray/proxy/chat"
)

// Call is a request for a model, and how its dialect writes the answer.
type Call struct {
	Dialect string        // for chat.Request.Client
	Request *chat.Request // with the model as the client spelled it
	Stream  bool
	Encoder func(write func(events []byte) error) Encoder // for a stream
	Whole   func(response *chat.Response) []byte          // returns the body of an answer that is not streamed
}

// Decode reads a request's body. unknown is told the names of members that no
// client of ours is known to send.
type Decode func(body []byte, unknown func(field string)) (*Call, *chat.Error)

// Serve answers a request for a model from its first byte to its last. Errors
// are answered by refuse as long as that is possible.
func (r *Runner) Serve(w http.ResponseWriter, request *http.Request, decode Decode, refuse Refuse) {
	call, err := r.read(request, decode)
	if err != nil {
		refuse(w, request, err)
		r.done(request.Context(), Outcome{Err: err})
		return
	}
	model := call.Request.Model
	call.Request.Model = PlainModel(model)
	if call.Stream {
		err = r.stream(w, request, call.Request, call.Encoder, refuse)
	} else {
		err = r.whole(w, request, call, refuse)
	}
	r.done(request.Context(), Outcome{Model: model, Stream: call.Stream, Err: err})
}

// read reads a whole request before anything else happens.
func (r *Runner) read(request *http.Request, decode Decode) (*Call, *chat.Error) {
	body, err := ReadBody(request)
	if err != nil {
		return nil, err
	}
	call, err := decode(body, r.Unknown(request))
	if err != nil {
		return nil, err
	}
	call.Request.Client = chat.Client{Key: keyOwner(request.Context()), Dialect: call.Dialect}
	return call, hints(request.Header, call.Request)
}

func (r *Runner) whole(w http.ResponseWriter, request *http.Request, call *Call, refuse Refuse) *chat.Error {
	response, err := r.collect(request.Context(), call.Request)
	if err != nil {
		refuse(w, request, err)
		return err
	}
	setExtras(w.Header(), &response.Finish)
	WriteJSON(w, http.StatusOK, call.Whole(response))
	return nil
}
