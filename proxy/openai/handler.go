package openai

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"

	"cursortray/proxy/chat"
	"cursortray/proxy/sse"
)

// ChatCompletions answers POST /v1/chat/completions. An error of reading the
// body that is a *chat.Error is answered as it is.
func (h *Handler) ChatCompletions(w http.ResponseWriter, r *http.Request) {
	req, err := h.readChat(r)
	if err != nil {
		WriteError(w, r, err)
		h.done(r.Context(), Outcome{Err: err})
		return
	}
	answer := identity{id: "chatcmpl-" + rand.Text(), created: h.now().Unix(), model: req.Model}
	req.Model = plainModel(req.Model)
	if req.stream {
		err = h.stream(w, r, req, answer)
	} else {
		err = h.whole(w, r, req, answer)
	}
	h.done(r.Context(), Outcome{Model: answer.model, Stream: req.stream, Err: err})
}

// readChat reads a whole request before anything else happens.
func (h *Handler) readChat(r *http.Request) (*chatRequest, *chat.Error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		if e := (*chat.Error)(nil); errors.As(err, &e) {
			return nil, e
		}
		return nil, &chat.Error{Kind: chat.Canceled, Message: "the request body broke off", Err: err}
	}
	req, fault := decodeChat(body, func(field string) { h.ignoreUnknown(r, field) })
	if fault != nil {
		return nil, fault
	}
	req.Session = sessionHint(r.Header)
	req.Workspace, fault = workspace(r.Header)
	return req, fault
}

// turn asks the back-end. Nothing starts before the turn is ranged over.
func (h *Handler) turn(ctx context.Context, req *chatRequest) iter.Seq2[chat.Event, error] {
	return chat.StopAt(h.backend.Chat(ctx, &req.Request), req.Stop)
}

// stream answers with an event stream. An error before its first byte gets its
// own status, a later one an event.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, req *chatRequest, answer identity) *chat.Error {
	out := sse.NewWriter(w, h.keepAlive)
	defer out.Close()
	encoder := newChunks(answer, req.includeUsage, out.Write)
	err := h.relay(r.Context(), req, encoder)
	switch {
	case err == nil:
	case !out.Abort():
		WriteError(w, r, err)
	default:
		encoder.fail(err)
	}
	return err
}

// relay runs the turn and writes its events as they come. Nothing is written
// before the first one.
func (h *Handler) relay(ctx context.Context, req *chatRequest, encoder *chunks) (failure *chat.Error) {
	defer h.recoverTurn(ctx, &failure)
	for event, err := range h.turn(ctx, req) {
		if err != nil {
			return turnError(ctx, err)
		}
		finish, last := event.(chat.Finish)
		if last && !encoder.said && finish.StopText == "" {
			return emptyAnswer()
		}
		if err := encoder.send(event); err != nil {
			return &chat.Error{Kind: chat.Canceled, Message: "the client has left", Err: err}
		}
		if last { // a client that leaves from here on has all it wanted
			return nil
		}
	}
	return chat.Errorf(chat.BadGateway, "the answer broke off before its end")
}

// whole answers with one JSON object.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, req *chatRequest, answer identity) *chat.Error {
	response, err := h.collect(r.Context(), req)
	if err != nil {
		WriteError(w, r, err)
		return err
	}
	writeJSON(w, http.StatusOK, appendCompletion(nil, answer, response))
	return nil
}

func (h *Handler) collect(ctx context.Context, req *chatRequest) (response *chat.Response, failure *chat.Error) {
	defer h.recoverTurn(ctx, &failure)
	response, err := chat.Collect(h.turn(ctx, req))
	if err != nil {
		return nil, turnError(ctx, err)
	}
	if response.Text == "" && response.Reasoning == "" && len(response.Calls) == 0 && response.Finish.StopText == "" {
		return nil, emptyAnswer()
	}
	return response, nil
}

// emptyAnswer is the error for a turn that succeeded with nothing to show. A
// client would take it for an answer.
func emptyAnswer() *chat.Error {
	return chat.Errorf(chat.BadGateway, "the model gave an empty answer; try again, or choose another model")
}

// turnError tells why a turn ended. A context that ended for a reason of this
// program's own carries that reason as its cause.
func turnError(ctx context.Context, err error) *chat.Error {
	e := chat.AsError(err)
	if e.Kind != chat.Canceled {
		return e
	}
	if ctx.Err() == nil { // the client is still there and waits
		return &chat.Error{Kind: chat.BadGateway, Message: "the answer was canceled upstream", Err: e}
	}
	if cause := (*chat.Error)(nil); errors.As(context.Cause(ctx), &cause) {
		return cause
	}
	return e
}

// recoverTurn makes an error of a panic, so that the client sees one. What was
// panicked with may hold a prompt, so only faults of the runtime are logged as
// they are.
func (h *Handler) recoverTurn(ctx context.Context, failure **chat.Error) {
	v := recover()
	if v == nil {
		return
	}
	what := fmt.Sprintf("value of type %T", v)
	if fault, ok := v.(runtime.Error); ok {
		what = fault.Error()
	}
	h.log.ErrorContext(ctx, "panic while answering a request", slog.String("panic", what), slog.String("stack", string(debug.Stack())))
	*failure = chat.AsError(errors.New("panic: " + what))
}
