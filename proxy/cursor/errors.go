package cursor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"cursortray/proxy/chat"
)

// Codes of the errors of this package. They tell apart what a user has to do.
const (
	CodeLoginRequired = "login_required"    // nobody is logged in
	CodeLoginEnded    = "login_ended"       // Cursor no longer accepts the login
	CodeLoginDenied   = "login_denied"      // refused in the browser or by Cursor
	CodeLoginExpired  = "login_expired"     // not confirmed in time
	CodeUnreadable    = "login_unreadable"  // the store of secrets does not give it out
	CodeNotSaved      = "login_not_saved"   // good until the program ends
	CodeNotDeleted    = "login_not_deleted" // logged out, but the login is still stored
	CodeOffline       = "cursor_unreachable"
	CodeClock         = "clock_wrong"
	CodeCertificate   = "certificate_untrusted"
	CodeServer        = "cursor_fault"      // Cursor answered, but with an error of its own
	CodeEnvironment   = "environment_wrong" // a variable such as HTTPS_PROXY is in the way
	CodeKey           = "invalid_cursor_key"
)

// statusError is an answer of Cursor with another status than 200.
type statusError struct {
	status     int
	html       bool
	api        bool // the body is one of Cursor's API
	ended      bool // it says that the login has ended
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	return fmt.Sprintf("Cursor answered with HTTP status %d", e.status)
}

// final says that Cursor refuses the credentials for good. A page of HTML is
// not Cursor's API speaking but something in between, such as the log-in page
// of a hotel, and no reason to give up a login. A 403 comes from firewalls, too,
// in many forms.
func (e *statusError) final() bool {
	return e.ended || e.status == 401 && !e.html || e.status == 403 && e.api
}

// VariableError says that a variable of the environment, such as HTTPS_PROXY,
// keeps calls from being made. Its text must not hold the variable's value,
// which may have a password in it.
type VariableError struct {
	Name string
	Err  error
}

func (e *VariableError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *VariableError) Unwrap() error { return e.Err }

var errAnswer = errors.New("the answer of Cursor has no tokens in it")

func isFinal(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.final()
}

// saysEnded says whether Cursor has told in so many words that the login has
// ended.
func saysEnded(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.ended
}

// withoutURL removes the URL that net/http puts into its errors: the one of a
// poll has the verifier in it.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return withoutURL(u.Err)
	}
	return err
}

// callError describes a failed call to Cursor to the user.
func callError(err error) *chat.Error {
	err = withoutURL(err)
	var status *statusError
	var invalid x509.CertificateInvalidError
	var untrusted *tls.CertificateVerificationError
	var variable *VariableError
	var dial *net.OpError
	switch {
	case errors.As(err, &variable):
		return &chat.Error{Kind: chat.BadGateway, Code: CodeEnvironment, Err: err,
			Message: "Cursor cannot be reached: " + variable.Error() + "; correct that variable or remove it"}
	case errors.Is(err, context.Canceled):
		return chat.AsError(err)
	case errors.As(err, &status) && status.status == 429:
		return &chat.Error{Kind: chat.RateLimited, Code: CodeServer, Err: err, RetryAfter: status.retryAfter,
			Message: "Cursor asks to try again later (HTTP status 429)"}
	case errors.As(err, &status), errors.Is(err, errAnswer):
		return &chat.Error{Kind: chat.BadGateway, Code: CodeServer, Err: err,
			Message: err.Error() + "; try again in a while"}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &chat.Error{Kind: chat.BadGateway, Code: CodeClock, Err: err,
			Message: "Cursor's certificate is not valid today: check the date and time of this computer"}
	case errors.As(err, &untrusted):
		return &chat.Error{Kind: chat.BadGateway, Code: CodeCertificate, Err: err,
			Message: "the certificate of the server that answers for Cursor is not trusted; behind a company proxy, name its certificate in SSL_CERT_FILE"}
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		return &chat.Error{Kind: chat.BadGateway, Code: CodeEnvironment, Err: err,
			Message: "the proxy that HTTPS_PROXY names cannot be reached; start it, or correct that variable"}
	}
	return &chat.Error{Kind: chat.BadGateway, Code: CodeOffline, Err: err,
		Message: "Cursor cannot be reached; check the network connection"}
}
