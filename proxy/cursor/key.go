package cursor

import (
	"context"

	"cursortray/proxy/chat"
)

// LoginWithKey turns what a user pasted, an API key or an access token, into a
// login. The key goes to Cursor's exchange call and nowhere else. Errors are
// *chat.Error.
func LoginWithKey(ctx context.Context, cfg Config, text string) (Credentials, error) {
	c, err := parseKey(text)
	if err != nil {
		return Credentials{}, &chat.Error{Kind: chat.Invalid, Code: CodeKey, Message: err.Error()}
	}
	if c.apiKey == "" {
		if !c.good() {
			return Credentials{}, &chat.Error{Kind: chat.LoginRequired, Code: CodeLoginExpired,
				Message: "this access token has run out; log in with the browser or an API key"}
		}
		return c, nil
	}
	t, err := newAuthClient(cfg).exchange(ctx, c.apiKey)
	switch {
	case isFinal(err):
		return Credentials{}, &chat.Error{Kind: chat.LoginRequired, Code: CodeLoginDenied, Err: err,
			Message: "Cursor does not accept this API key"}
	case ctx.Err() != nil:
		return Credentials{}, chat.AsError(ctx.Err())
	case err != nil:
		return Credentials{}, callError(err)
	}
	return c.renewed(t), nil
}
