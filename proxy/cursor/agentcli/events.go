package agentcli

import (
	"encoding/json"

	"cursortray/proxy/chat"
)

// eventKind names a canonical event of one run of the CLI.
type eventKind uint8

const (
	evSession       eventKind = iota + 1 // id, name = display name of the model; once, at the first session id
	evText                               // text: new text of the answer
	evThinking                           // text: new text of the thinking
	evToolStarted                        // id, name, args: a call that the CLI itself runs; once per id
	evToolCompleted                      // id, name, status; once per id
	evUsage                              // usage; at most once, before the end
	evDone                               // the run succeeded; last event
	evError                              // fail: the run failed; last event
)

// toolStatus says how a call of the CLI's own tools ended.
type toolStatus string

const (
	statusSuccess  toolStatus = "success"
	statusRejected toolStatus = "rejected"
	statusError    toolStatus = "error"
	statusUnknown  toolStatus = "unknown"
)

// event is what the parser makes of the CLI's lines. A run ends with exactly
// one evDone or evError. Strings and args are owned by the receiver; none of
// them shares memory with the line they came from.
type event struct {
	kind   eventKind
	text   string
	id     string
	name   string
	args   json.RawMessage
	status toolStatus
	usage  *chat.Usage
	fail   *failure
}

// exit is how the process ended, as far as known.
type exit struct {
	code     int    // -1 when there is none
	signal   string // "" when no signal ended it
	stderr   []byte // its tail is enough; begin it at the start of a line
	startErr error  // the process never ran
	timeout  bool   // one of our limits ended it
	byUs     bool   // we ended it for another reason
}
