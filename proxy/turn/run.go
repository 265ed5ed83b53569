package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"

	"cursortray/proxy/chat"
	"cursortray/proxy/sse"
)

// Encoder turns the events of one turn into those of an event stream.
type Encoder interface {
	// Send writes what stands for one event. The error is that of the write:
	// the client has left.
	Send(event chat.Event) error
	// Fail ends a stream that has begun, so that it does not look whole.
	Fail(err *chat.Error)
}

// Refuse answers a request with an error, before anything else was written.
type Refuse func(w http.ResponseWriter, r *http.Request, err *chat.Error)

// stream answers with an event stream. An error before its first byte is
// answered by refuse with a status of its own, a later one by the encoder. The
// encoder gets a function that writes complete events and copies them.
func (r *Runner) stream(
	w http.ResponseWriter, request *http.Request, req *chat.Request,
	newEncoder func(write func(events []byte) error) Encoder, refuse Refuse,
) *chat.Error {
	out := sse.NewWriter(w, r.keepAlive)
	defer out.Close()
	encoder := newEncoder(out.Write)
	err := r.relay(request.Context(), req, encoder)
	switch {
	case err == nil:
	case !out.Abort():
		refuse(w, request, err)
	default:
		encoder.Fail(err)
	}
	return err
}

// relay runs the turn and writes its events as they come. Nothing is written
// before the first one.
func (r *Runner) relay(ctx context.Context, req *chat.Request, encoder Encoder) (failure *chat.Error) {
	defer r.recover(ctx, &failure)
	said := false
	for event, err := range r.turn(ctx, req) {
		if err != nil {
			return reason(ctx, err)
		}
		finish, last := event.(chat.Finish)
		if last && !said && finish.StopText == "" {
			return emptyAnswer()
		}
		said = true
		if err := encoder.Send(event); err != nil {
			return &chat.Error{Kind: chat.Canceled, Message: "the client has left", Err: err}
		}
		if last { // a client that leaves from here on has all it wanted
			return nil
		}
	}
	return chat.Errorf(chat.BadGateway, "the answer broke off before its end")
}

// collect runs the turn and returns it as a whole.
func (r *Runner) collect(ctx context.Context, req *chat.Request) (response *chat.Response, failure *chat.Error) {
	defer r.recover(ctx, &failure)
	response, err := chat.Collect(r.turn(ctx, req))
	if err != nil {
		return nil, reason(ctx, err)
	}
	if response.Text == "" && response.Reasoning == "" && len(response.Calls) == 0 && response.Finish.StopText == "" {
		return nil, emptyAnswer()
	}
	return response, nil
}

// turn asks the back-end. Nothing starts before the turn is ranged over.
func (r *Runner) turn(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	return chat.StopAt(r.backend.Chat(ctx, req), req.Stop)
}

// emptyAnswer is the error for a turn that succeeded with nothing to show. A
// client would take it for an answer.
func emptyAnswer() *chat.Error {
	return chat.Errorf(chat.BadGateway, "the model gave an empty answer; try again, or choose another model")
}

// reason tells why a turn ended. A context that ended for a reason of this
// program's own carries that reason as its cause.
func reason(ctx context.Context, err error) *chat.Error {
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

// recover makes an error of a panic, so that the client sees one. What was
// panicked with may hold a prompt, so only faults of the runtime are logged as
// they are.
func (r *Runner) recover(ctx context.Context, failure **chat.Error) {
	v := recover()
	if v == nil {
		return
	}
	what := fmt.Sprintf("value of type %T", v)
	if fault, ok := v.(runtime.Error); ok {
		what = fault.Error()
	}
	r.log.ErrorContext(ctx, "panic while answering a request", slog.String("panic", what), slog.String("stack", string(debug.Stack())))
	*failure = chat.AsError(errors.New("panic: " + what))
}
