package cursor

import (
	"errors"
	"io"
	"net/http"
	"time"

	"cursortray/proxy/chat"
)

// Transport is an http.RoundTripper for calls to Cursor with the user's login.
// It adds the access token and the client headers and refuses hosts that are
// not Cursor's. An answer with status 401 means one renewal and, if the body
// can be sent again, one more try, on every route.
type Transport struct {
	Base     http.RoundTripper
	Tokens   *TokenSource
	Identity *Identity
	Hosts    Hosts
}

// RoundTrip makes the call. An error because of the login is a *chat.Error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, token, err := t.try(req, "")
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	again, ok := rewound(req)
	if !ok {
		return resp, nil
	}
	fresh, err := t.Tokens.Renew(req.Context(), token)
	if err != nil {
		discard(resp)
		closeBody(again)
		return nil, err
	}
	if fresh == token { // renewed a moment ago and refused all the same
		closeBody(again)
		return resp, nil
	}
	discard(resp)
	resp, _, err = t.try(again, fresh)
	return resp, err
}

// try makes the call once, with token or, for "", the current one.
func (t *Transport) try(req *http.Request, token string) (*http.Response, string, error) {
	var err error
	if !t.Hosts.mayHaveToken(req.URL) {
		err = &chat.Error{Kind: chat.Internal, Message: "a call with the Cursor login was about to go to a host that is not Cursor's",
			Err: errors.New("refused host " + req.URL.Host)}
	} else if token == "" {
		token, err = t.Tokens.Token(req.Context())
	}
	if err != nil {
		closeBody(req)
		return nil, "", err
	}
	signed := req.Clone(req.Context()) // a RoundTripper must not change req
	signed.Header.Set("Authorization", "Bearer "+token)
	t.Identity.apply(signed.Header, time.Now())
	resp, err := t.Base.RoundTrip(signed)
	return resp, token, err
}

// rewound returns req with its body from the start, if it can be had.
func rewound(req *http.Request) (*http.Request, bool) {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again.Body = body
	return again, true
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// discard reads the rest of a short answer, so that its connection is used
// again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}
