package agentrpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"cursortray/proxy/chat"
)

// Codes of the errors of this package, for callers that look closer than the
// kind.
const (
	CodeModel    = "model_not_found"
	CodeOutdated = "client_outdated"   // Cursor wants a newer client version
	CodeHTTP2    = "http2_required"    // something in between does not speak HTTP/2
	CodeRegion   = "wrong_region"      // the agent host serves other accounts
	CodeDevices  = "too_many_devices"  // Cursor counts too many computers
	CodeRefused  = "account_refused"   // Cursor refuses the account
	CodeBroken   = "answer_broken_off" // the stream ended in the middle
	CodeSilent   = "cursor_silent"
	CodeEmpty    = "empty_answer"
	CodeInsists  = "unknown_request" // a question that this program cannot answer
	CodeTooMany  = "too_many_runs"
)

// remedy is what may help against a fault, within the budget of a request.
type remedy int

const (
	giveUp     remedy = iota
	waitAndTry        // the same once more, after a while
	renewLogin        // another access token
	askHost           // another agent host
	rebuild           // a new conversation, made of the client's history
)

// fault is why a run ended badly.
type fault struct {
	err    *chat.Error
	remedy remedy
	wait   time.Duration // what the service asked for; 0 is not known
}

// classify maps a refusal to what the user sees and what may help. The code
// alone does not tell a spent plan from a busy service, the details do.
func (r *refusal) classify() *fault {
	for _, rule := range refusalRules {
		if rule.matches(r) {
			f := &fault{remedy: rule.remedy, wait: r.wait}
			f.err = &chat.Error{Kind: rule.kind, Code: rule.code, Message: r.message(rule.message), RetryAfter: r.wait, Err: r}
			if f.err.RetryAfter == 0 {
				f.err.RetryAfter = rule.after
			}
			if f.remedy == giveUp && r.retry && rule.retryable {
				f.remedy = waitAndTry
			}
			return f
		}
	}
	return &fault{err: &chat.Error{Kind: chat.BadGateway, Message: r.message("Cursor ended the answer with an error"), Err: r}}
}

// Error is for logs: it has the codes, not the text, which may quote the
// conversation.
func (r *refusal) Error() string {
	return fmt.Sprintf("refused: HTTP status %d, code %q, reason %q", r.status, r.code, r.reason)
}

// message is ours, followed by Cursor's where that says anything.
func (r *refusal) message(ours string) string {
	text := plain(r.text)
	if text == "" || strings.EqualFold(text, "error") {
		text = r.reason
	}
	if text != "" {
		ours += ": " + text
	}
	if r.instead != "" {
		ours += " (Cursor suggests the model " + plain(r.instead) + ")"
	}
	return ours
}

const maxServerText = 400

// plain makes one short line of a text of the service.
func plain(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	}), " ")
	if len(text) > maxServerText {
		text = strings.ToValidUTF8(text[:maxServerText], "") + "…"
	}
	return text
}

// refusalRule is one row of the table of errors. All its conditions have to
// hold.
type refusalRule struct {
	codes   []string // Connect's; nil is any
	status  [2]int   // range of HTTP statuses; zero is any
	reasons []string // parts of Cursor's reason or text, in lower case; nil is any

	kind      chat.Kind
	code      string
	message   string
	remedy    remedy
	after     time.Duration // when the service names no time
	retryable bool          // the service's own word counts
}

func (rule *refusalRule) matches(r *refusal) bool {
	if rule.codes != nil && !slices.Contains(rule.codes, r.code) {
		return false
	}
	if rule.status != [2]int{} && (r.status < rule.status[0] || r.status > rule.status[1]) {
		return false
	}
	if rule.reasons == nil {
		return true
	}
	said := strings.ToLower(r.reason + " " + r.text)
	for _, part := range rule.reasons {
		if strings.Contains(said, part) {
			return true
		}
	}
	return false
}

// refusalRules goes from the surest sign to the vaguest. Reasons and texts were
// seen by users of several clients in 2026.
var refusalRules = []refusalRule{
	{reasons: []string{"region is not available"}, kind: chat.BadGateway, code: CodeRegion, remedy: askHost,
		message: "Cursor's agent host does not serve this account"},
	{reasons: []string{"error_outdated_client", "update cursor", "outdated client"}, kind: chat.BadGateway, code: CodeOutdated,
		message: "Cursor wants a newer client; raise the client version in the settings"},
	{reasons: []string{"error_bad_model_name"}, kind: chat.NotFound, code: CodeModel, message: "Cursor does not know this model"},
	// This lasts for hours, so it is no rate that clients should wait for.
	{reasons: []string{"too many computers"}, kind: chat.QuotaSpent, code: CodeDevices,
		message: "Cursor counts too many computers for this account; use fewer of them, and wait until those of the last 24 hours are forgotten"},
	{reasons: []string{"named models unavailable", "free plans can only use auto"}, kind: chat.NotInPlan,
		message: "the Cursor plan does not have this model"},
	{reasons: []string{"blob not found"}, kind: chat.BadGateway, remedy: rebuild,
		message: "Cursor lost a part of the conversation"},
	{reasons: []string{"error_resource_exhausted", "high load", "high demand", "overloaded"}, kind: chat.Overloaded, remedy: waitAndTry,
		after: overloadPause, message: "Cursor is busy"},
	{reasons: []string{"error_rate_limited", "usage limit", "quota", "spend limit", "spending limit", "error_free_user", "error_pro_user", "usage_limit"},
		kind: chat.QuotaSpent, message: "the allowance of the Cursor plan is used up"},
	{reasons: []string{"error_conversation_too_long", "context length", "context_length", "too many tokens", "prompt is too long"}, kind: chat.TooLong,
		message: "the conversation does not fit the model's window"},
	{reasons: []string{"parse binary"}, kind: chat.Invalid, message: "Cursor refuses the request"},

	{status: [2]int{464, 464}, kind: chat.BadGateway, code: CodeHTTP2,
		message: "Cursor's agent needs HTTP/2, which a proxy or firewall in between seems to take away"},
	{codes: []string{"unauthenticated"}, kind: chat.LoginRequired, code: codeLoginEnded, remedy: renewLogin, message: loginMessage},
	{status: [2]int{401, 401}, kind: chat.LoginRequired, code: codeLoginEnded, remedy: renewLogin, message: loginMessage},
	{codes: []string{"permission_denied"}, kind: chat.LoginRequired, code: CodeRefused, remedy: renewLogin, message: accountMessage},
	{status: [2]int{403, 403}, kind: chat.LoginRequired, code: CodeRefused, remedy: renewLogin, message: accountMessage},
	{status: [2]int{429, 429}, kind: chat.RateLimited, remedy: giveUp, retryable: true, after: overloadPause,
		message: "Cursor asks to try again later"},
	// Without any detail this is a busy service, a request that is too large or
	// a conversation that Cursor can no longer read.
	{codes: []string{"resource_exhausted"}, kind: chat.Overloaded, remedy: rebuild, after: overloadPause,
		message: "Cursor refuses the request without a reason; it may be busy, or the conversation too large"},
	{codes: []string{"not_found"}, kind: chat.NotFound, code: CodeModel, message: "Cursor does not know this model"},
	{codes: []string{"invalid_argument", "failed_precondition", "out_of_range"}, kind: chat.Invalid, retryable: true,
		message: "Cursor refuses the request"},
	{codes: []string{"unavailable"}, kind: chat.Overloaded, remedy: waitAndTry, after: overloadPause, message: "Cursor is not available"},
	{codes: []string{"internal", "aborted", "deadline_exceeded", "unknown", "data_loss", "canceled"}, kind: chat.BadGateway, remedy: waitAndTry,
		message: "Cursor ended the answer with an error of its own"},
	{status: [2]int{503, 503}, kind: chat.Overloaded, remedy: waitAndTry, after: overloadPause, message: "Cursor is not available"},
	{status: [2]int{500, 599}, kind: chat.BadGateway, remedy: waitAndTry, message: "Cursor's server has a fault"},
	{status: [2]int{404, 404}, kind: chat.BadGateway, message: "Cursor's agent host does not know the call"},
	{status: [2]int{400, 499}, kind: chat.BadGateway, message: "Cursor refuses the call"},
}

const (
	overloadPause = 5 * time.Second
	// codeLoginEnded is the code that the account uses for the same thing.
	codeLoginEnded = "login_ended"
	loginMessage   = "Cursor refuses the login; log in again from the tray or with \"cursortray login\""
	accountMessage = "Cursor refuses this account"
)

// brokenOff is a stream that ended without its own end.
func brokenOff(cause error) *fault {
	return &fault{remedy: waitAndTry, err: &chat.Error{Kind: chat.BadGateway, Code: CodeBroken, Err: cause,
		Message: "the connection to Cursor broke off before the end of the answer"}}
}

// unreachable is a call that got no answer at all.
func unreachable(err error) *fault {
	var known *chat.Error // of the login
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &known):
		return &fault{err: known}
	case errors.As(err, &untrusted):
		return &fault{err: &chat.Error{Kind: chat.BadGateway, Code: "certificate_untrusted", Err: err,
			Message: "the certificate of the server that answers for Cursor is not trusted; behind a company proxy, name its certificate in SSL_CERT_FILE"}}
	case strings.Contains(err.Error(), "ALPN") || strings.Contains(err.Error(), "no application protocol"):
		return &fault{err: &chat.Error{Kind: chat.BadGateway, Code: CodeHTTP2, Err: err,
			Message: "Cursor's agent needs HTTP/2, which a proxy or firewall in between seems to take away"}}
	case errors.Is(err, context.Canceled):
		return &fault{err: canceled(err)}
	}
	return &fault{remedy: waitAndTry, err: &chat.Error{Kind: chat.BadGateway, Code: "cursor_unreachable", Err: err,
		Message: "Cursor's agent host cannot be reached; check the network connection"}}
}

func canceled(cause error) *chat.Error {
	return &chat.Error{Kind: chat.Canceled, Message: "the request was canceled", Err: cause}
}

func shuttingDown() *chat.Error {
	return &chat.Error{Kind: chat.ShuttingDown, Message: "cursortray is ending"}
}

func silent(what string) *fault {
	return &fault{remedy: waitAndTry, err: &chat.Error{Kind: chat.Timeout, Code: CodeSilent, Message: what}}
}
