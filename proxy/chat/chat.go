// Package chat is the vocabulary that front-ends (API dialects) and back-ends
// (ways to reach a model) share: requests, events, models, usage and one error
// type. It imports the standard library only, knows no wire format, and starts
// no goroutine.
package chat

import (
	"context"
	"encoding/json"
	"iter"
)

// Backend answers turns. All methods may be called from any number of
// goroutines at once.
type Backend interface {
	// Chat runs one turn and yields its events as they arrive. Nothing starts
	// before the sequence is ranged over, and a sequence can be ranged over
	// once. The contract, which chattest.Suite enforces:
	//
	//  1. Deltas hold new, non-empty, valid UTF-8 text, never a snapshot.
	//  2. A ToolCall is whole: its ID is unique in the process, its Name is one
	//     of req.Tools, its Arguments are a valid JSON object. This contract
	//     has no event for partial arguments: a front-end whose dialect
	//     streams them cuts the whole value up itself.
	//  3. The sequence ends with exactly one Finish and a nil error, or with
	//     exactly one error (then the event is nil). Nothing follows either.
	//  4. Finish.Usage and Finish.Context are nil when the upstream gave no
	//     figures; they are never made up.
	//  5. Every error is a *Error. One that comes before the first event lets
	//     the front-end still choose the HTTP status.
	//  6. Leaving the loop, or the end of ctx, ends the turn promptly and leaks
	//     neither goroutine nor process nor stream. An ended ctx gives an error
	//     of kind Canceled.
	//  7. After Finish{ToolCalls} a back-end may hold private state; the next
	//     Chat with matching ToolResults resumes it, or answers from the
	//     request's history if that state is gone. Callers cannot tell.
	//  8. Such a held run lives on the back-end's own context, with an idle
	//     deadline and a cap, never on a request's.
	//
	// Chat does not modify req, and the caller does not while ranging.
	Chat(ctx context.Context, req *Request) iter.Seq2[Event, error]

	// Models lists what Request.Model may name, in the order to show it. The
	// error is a *Error. Callers own the slice.
	Models(ctx context.Context) ([]Model, error)

	// Check returns nil if a request would be served now, else the *Error that
	// a request would get, with the remedy in its message. It may take as long
	// as ctx lets it, and may answer from a short-lived cache.
	Check(ctx context.Context) error

	// Close ends all turns and held runs and returns when their goroutines and
	// processes are gone. Further calls of Close do nothing; further turns
	// fail with kind ShuttingDown.
	Close() error
}

// Request is one turn of a conversation: the whole history and what the model
// may do next.
type Request struct {
	Model    string    // an id from Models or an alias the back-end accepts
	System   string    // all system texts joined; may be empty
	Messages []Message // never empty; the last one is what the model answers
	Tools    []Tool    // what the client can execute; names are unique
	Choice   ToolChoice
	// SerialTools asks for at most one ToolCall in this turn.
	SerialTools bool
	// MaxTokens limits the answer; 0 is no limit. A back-end that cannot limit
	// ignores it.
	MaxTokens int
	// Stop holds the texts that end the answer. Front-ends apply StopAt;
	// back-ends ignore the field.
	Stop   []string
	Effort string // reasoning effort as the client spelled it; "" is the model's default
	Format Format
	// Session is the client's own conversation id, "" when it sends none. It is
	// a hint: two conversations may share it.
	Session string
	// Workspace is the absolute folder that the client allowed the back-end to
	// work in, "" for none.
	Workspace string
	// Client is who asks. Back-ends ignore it: it is for those who watch.
	Client Client
}

// Client tells where a request came from.
type Client struct {
	// Key is the id of the editor whose own local key the request had, for
	// example "codex"; "" is the main key, which anybody may use.
	Key     string
	Dialect string // one of the constants below
}

// The dialects of the front-ends.
const (
	DialectChat      = "chat"      // OpenAI's chat completions
	DialectResponses = "responses" // OpenAI's Responses
	DialectMessages  = "messages"  // Anthropic's Messages
)

// Role says who speaks in a Message.
type Role int

const (
	User      Role = iota // the person; also carries tool results
	Assistant             // the model
)

// Message is one entry of the history. Its parts keep their order.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is one of Text, Image, Reasoning, ToolUse, ToolResult.
type Part interface{ isPart() }

// Text is plain text.
type Text struct{ Text string }

// Image is a picture with its bytes; remote pictures never get this far.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif or image/webp
	Data []byte
}

// Reasoning is thinking of an earlier turn that the client sends back.
type Reasoning struct{ Text string }

// ToolUse is a call that the model made in an earlier turn.
type ToolUse struct {
	ID        string
	Name      string
	Arguments string // as the client echoes it; may be empty or broken JSON
}

// ToolResult is what the client's execution of a call gave. CallID may be
// unknown to the history when the client cut it.
type ToolResult struct {
	CallID  string
	Content []Part // Text and Image only, bytes as the client sent them
	Failed  bool
}

func (Text) isPart()       {}
func (Image) isPart()      {}
func (Reasoning) isPart()  {}
func (ToolUse) isPart()    {}
func (ToolResult) isPart() {}

// Tool is a function that the client executes.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments object; nil is "any object"
}

// ToolChoice says whether the model may, must or must not call a tool.
type ToolChoice struct {
	Mode ToolMode
	Name string // the tool to call, with ToolNamed only
}

// ToolMode is the kind of a ToolChoice.
type ToolMode int

const (
	ToolAuto  ToolMode = iota // the model decides
	ToolNone                  // no call
	ToolAny                   // at least one call
	ToolNamed                 // a call of ToolChoice.Name
)

// Format asks for a JSON answer. Back-ends pass it on as an instruction at
// best; nothing checks the answer.
type Format struct {
	JSON   bool
	Schema json.RawMessage // nil for any JSON object
}

// Event is one of TextDelta, ReasoningDelta, ToolCall, Finish.
type Event interface{ isEvent() }

// TextDelta is new text of the answer.
type TextDelta struct{ Text string }

// ReasoningDelta is new text of the model's thinking.
type ReasoningDelta struct{ Text string }

// ToolCall asks the client to execute one of its tools. ID consists of ASCII
// letters, digits, "_" and "-", at most 40 of them.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Finish ends a turn that succeeded.
type Finish struct {
	Reason Reason
	Usage  *Usage // nil: the upstream gave no figures
	// Billed is what all calls of the model in the turn used together, where
	// Usage tells of the conversation's present size instead; nil: Usage is it.
	Billed  *Usage
	Context *Context // nil: not known
	// Conversation names the conversation that the turn belonged to, so that
	// figures of its turns can be put together; "" when the back-end does not
	// tell conversations apart. It means nothing to anybody else.
	Conversation string
	// Routed is the name, for people, of the model that the upstream chose where
	// the request left that to it; "" when it does not tell, or had no choice.
	Routed string
	// StopText is the element of Request.Stop that ended the answer, if any.
	StopText string
}

// Paid is what the turn has to be paid for, nil if that is not known.
func (f *Finish) Paid() *Usage {
	if f.Billed != nil {
		return f.Billed
	}
	return f.Usage
}

func (TextDelta) isEvent()      {}
func (ReasoningDelta) isEvent() {}
func (ToolCall) isEvent()       {}
func (Finish) isEvent()         {}

// Reason says why a turn ended.
type Reason int

const (
	Stop          Reason = iota // the model was done, or a stop text came
	ToolCalls                   // the client is to execute the calls of this turn
	Length                      // the answer hit its token limit
	ContentFilter               // the upstream withheld the rest
)

// Usage counts tokens of one turn as the upstream reported them.
type Usage struct {
	Input      int // prompt tokens that were neither read from nor written to a cache
	CacheRead  int
	CacheWrite int
	Output     int // includes Reasoning
	Reasoning  int // 0 when not reported
}

// Context tells how full the conversation's window was after the turn.
type Context struct {
	Used int // tokens
	Max  int // tokens; 0 when not known
	// Stale marks figures of an earlier turn: the upstream gave none since.
	Stale bool
	Parts []ContextPart // where the tokens go; nil when not known
}

// ContextPart is one kind of content of a window, as the upstream names it. The
// kinds are an open set, and their sizes are estimates.
type ContextPart struct {
	ID     string
	Label  string // for people
	Tokens int
}

// Model is one entry of a model list.
type Model struct {
	ID            string
	Name          string // for people; never empty
	ContextWindow int    // tokens; 0 when not known
	MaxOutput     int    // tokens; 0 when not known
	Images        bool   // takes pictures
	Reasoning     bool   // yields ReasoningDelta
	Default       bool   // what the account uses when it names none

	// Group is the ID of the plain entry that this one is a variant of, its own
	// for the plain one; "" when the back-end does not group.
	Group string
	// MaxContextWindow is the largest window that another entry of the group
	// has, in tokens; 0 when there is none above ContextWindow, or not known.
	MaxContextWindow int
	Aliases          []string // other names that a request may use
	Price            *Price   // nil when not known, which is not free
}

// Price holds exact decimal numbers of dollars per token; "" is not known.
type Price struct{ Input, Output, CacheRead, CacheWrite string }
