package chattest

import (
	"testing"
	"time"

	"cursortray/proxy/chat"
)

// Harness connects Suite with one kind of back-end.
type Harness struct {
	// New returns a fresh back-end whose upstream plays script on every turn.
	// What the harness starts itself it ends with t.Cleanup; the Backend is
	// closed by Suite.
	New func(t *testing.T, script Script) Instance
	// Model is what requests name; the upstream must accept it.
	Model string
	// Patience is how long the upstream of an ended turn may take to be gone,
	// and how long an ended context may take to end its turn. 0 is 2 s.
	Patience time.Duration

	// What the upstream has no way to express; Suite leaves it out.
	NoReasoning, NoUsage, NoTools bool
	// Unscripted tells that New ignores its script, because the upstream says
	// what it likes. Only the checks that can bear this are run.
	Unscripted bool
}

// Instance is a back-end under test.
type Instance struct {
	Backend chat.Backend
	// Live counts the upstream's runs (processes, streams) that have begun and
	// are not over, seen from the upstream's side. A run held open for a tool
	// result counts. nil leaves leaks to the goroutine check.
	Live func() int
}

// Script says what the upstream does. It is the same for every turn of an
// instance, and looks at nothing but the kind of the request's last message.
type Script struct {
	Answer []Move // for a message of the person
	After  []Move // for a tool result
}

// Move is one of Say, Think, Use, Report, Die, Hang. An upstream that comes
// to the end of its moves ends its turn in the ordinary way; after a Use that
// means that it waits for the result or ends, whatever is natural for it.
type Move interface{ isMove() }

// Say sends a piece of text.
type Say struct{ Text string }

// Think sends a piece of reasoning.
type Think struct{ Text string }

// Use asks for a tool of the client. Arguments is a JSON object, or empty:
// then the upstream leaves them out or sends an empty object.
type Use struct{ Name, Arguments string }

// Report gives the turn's figures.
type Report struct{ Usage chat.Usage }

// Die breaks off without the upstream's own sign of an ordinary end.
type Die struct{}

// Hang sends nothing more until the back-end ends the run.
type Hang struct{}

func (Say) isMove()    {}
func (Think) isMove()  {}
func (Use) isMove()    {}
func (Report) isMove() {}
func (Die) isMove()    {}
func (Hang) isMove()   {}
