package cursor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"cursortray/proxy/chat"
)

// maxReply is far above the longest list of models.
const maxReply = 4 << 20

// call makes a unary call in Connect JSON. client adds the login, see
// Transport; the caller's ctx has the time limit. Errors are *chat.Error.
func call(ctx context.Context, client *http.Client, url string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return chat.AsError(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return chat.AsError(withoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	body, err := send(ctx, client, req)
	if err != nil {
		return err
	}
	if json.Unmarshal(body, out) != nil {
		return errUnreadable()
	}
	return nil
}

// send makes a call and returns the body of its answer.
func send(ctx context.Context, client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, callFailed(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if resp.StatusCode != http.StatusOK {
		return nil, refused(resp, body)
	}
	if err != nil {
		return nil, callFailed(ctx, err)
	}
	return body, nil
}

func errUnreadable() *chat.Error {
	return &chat.Error{Kind: chat.BadGateway, Code: CodeServer, Message: "the answer of Cursor cannot be read; try again in a while"}
}

// callFailed describes a call without a whole answer.
func callFailed(ctx context.Context, err error) error {
	var known *chat.Error // of the login
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &chat.Error{Kind: chat.Timeout, Code: CodeOffline, Message: "Cursor does not answer; check the network connection", Err: withoutURL(err)}
	}
	return callError(err)
}

// refused describes an answer with another status than 200. Connect puts a
// code and a message into its body.
func refused(resp *http.Response, body []byte) error {
	var said struct{ Code, Message string }
	_ = json.Unmarshal(body, &said) // an answer of something in between has neither
	status := &statusError{
		status:     resp.StatusCode,
		html:       strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"),
		retryAfter: retryAfter(resp.Header),
	}
	e := &chat.Error{Kind: chat.BadGateway, Code: CodeServer, Err: fmt.Errorf("%w, code %q", status, said.Code), RetryAfter: status.retryAfter,
		Message: fmt.Sprintf("Cursor answered with HTTP status %d; try again in a while", resp.StatusCode)}
	switch {
	case resp.StatusCode == 401 || said.Code == "unauthenticated":
		e.Kind, e.Code, e.Message = chat.LoginRequired, CodeLoginEnded,
			"Cursor refuses the login; log in again from the tray or with \"cursortray login\""
	case resp.StatusCode == 429 || said.Code == "resource_exhausted":
		e.Kind, e.Message = chat.RateLimited, "Cursor asks to try again later"
	}
	return e
}
