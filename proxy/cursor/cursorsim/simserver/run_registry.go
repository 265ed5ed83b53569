package simserver

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"
)

// RunRules are the limits that a client is held to, and the times of the server
// itself. Tests that cannot wait make them shorter.
type RunRules struct {
	Heartbeat       time.Duration // a client's heartbeats are due this often
	ExecHeartbeat   time.Duration // and those of work in progress
	Slack           time.Duration // how much later both may come
	ServerHeartbeat time.Duration // of the server
	AnswerWithin    time.Duration // for what a client answers by itself
	Closing         time.Duration // for what ends: a stream after its last envelope, work after its result, a run that another one replaces
	MaxOpen         int           // runs at once
	Pace            time.Duration // between two pieces of text of the default script
}

func defaultRunRules() RunRules {
	return RunRules{
		// As Cursor's own client has them.
		Heartbeat: 5 * time.Second, ExecHeartbeat: 3 * time.Second, Slack: 2 * time.Second,
		ServerHeartbeat: 5 * time.Second, AnswerWithin: 10 * time.Second, Closing: 2 * time.Second, MaxOpen: 24,
	}
}

// RunRules returns the present rules.
func (s *Sim) RunRules() RunRules {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	return s.runs.rules
}

// ChangeRunRules edits the rules, for runs from now on.
func (s *Sim) ChangeRunRules(edit func(*RunRules)) {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	edit(&s.runs.rules)
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	OutcomeOpen       Outcome = "open"        // it has not ended
	OutcomeEnded      Outcome = "ended"       // by turn_ended
	OutcomeFailed     Outcome = "failed"      // by an error that the script wanted, or the client caused
	OutcomeCut        Outcome = "cut"         // by a fault that the script wanted
	OutcomeCanceled   Outcome = "canceled"    // by a cancel action
	OutcomeHalfClosed Outcome = "half-closed" // by the client's early end of its half
	OutcomeLeft       Outcome = "left"        // by a reset of the client
)

// RunRecord is what is remembered of a run.
type RunRecord struct {
	Number       int // from 1, in the order of their first messages
	Conversation string
	Model        string
	Prompt       string
	Peer         string // the client's end of the connection
	Started      time.Time
	Ended        time.Time // when the client's half or the turn ended; zero while it is open
	CancelAction time.Time // zero without one
	Outcome      Outcome
	Heartbeats   int
	Execs        []ExecAnswer
}

// RunStats are counters of all runs.
type RunStats struct {
	Open    int             `json:"open"`    // now
	MaxOpen int             `json:"maxOpen"` // at any time
	Total   int             `json:"total"`   // ever
	Ended   map[Outcome]int `json:"ended"`
}

// runs are all runs, and what is known of their conversations.
type runs struct {
	mu       sync.Mutex // guards all below; taken after that of a Run
	rules    RunRules
	changed  chan struct{} // closed and replaced when a run begins or ends
	open     []*Run
	stats    RunStats
	records  []RunRecord
	talks    map[string]*conversation
	recent   []string // keys of talks, the oldest first
	scripts  []Step
	standing Step // nil for the default script
}

// conversation is what the client must bring back unchanged.
type conversation struct {
	checkpoints map[string]bool // hashes of those that were sent
	blobs       map[string]bool // ids of those that the client took
	messages    map[string]bool // ids of user messages
	context     []byte          // the request context as it came
}

// maxTalks bounds the memory of a simulation that runs for days.
const maxTalks = 4096

func newRuns() runs {
	return runs{rules: defaultRunRules(), changed: make(chan struct{}), talks: map[string]*conversation{}, stats: RunStats{Ended: map[Outcome]int{}}}
}

// talk returns the conversation with that id.
func (a *runs) talk(id string) *conversation {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.talks[id]; t != nil {
		return t
	}
	if len(a.recent) >= maxTalks {
		delete(a.talks, a.recent[0])
		a.recent = a.recent[1:]
	}
	t := &conversation{checkpoints: map[string]bool{}, blobs: map[string]bool{}, messages: map[string]bool{}}
	a.talks[id] = t
	a.recent = append(a.recent, id)
	return t
}

func (a *runs) checkpoint(t *conversation, raw []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t.checkpoints[string(BlobID(raw))] = true
}

func (a *runs) keep(t *conversation, blob []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t.blobs[string(blob)] = true
}

func (a *runs) kept(t *conversation, blob []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return t.blobs[string(blob)]
}

// sent tells whether there were checkpoints, and whether this was one of them.
func (a *runs) sent(t *conversation, raw []byte) (some, this bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(t.checkpoints) > 0, t.checkpoints[string(BlobID(raw))]
}

// freshMessage tells whether a message's id is new in its conversation.
func (a *runs) freshMessage(t *conversation, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	used := t.messages[id]
	t.messages[id] = true
	return !used
}

// sameContext tells whether the request context is the one of the turns before,
// or the first, and remembers it.
func (a *runs) sameContext(t *conversation, raw []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	same := t.context == nil || bytes.Equal(t.context, raw)
	t.context = raw
	return same
}

// enter counts a run whose request is accepted. The check that it returns says
// whether the client keeps to its limits while the run lives.
func (a *runs) enter(r *Run) (alone func(life context.Context)) {
	a.mu.Lock()
	rivals := slices.DeleteFunc(slices.Clone(a.open), func(o *Run) bool { return o.talk != r.talk })
	a.stats.Total++
	a.open = append(a.open, r)
	a.stats.Open = len(a.open)
	a.stats.MaxOpen = max(a.stats.MaxOpen, len(a.open))
	number := a.stats.Total
	a.tell()
	a.mu.Unlock()

	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Number, r.record.Started, r.record.Outcome = number, r.sim.clock(), OutcomeOpen
	r.record.Conversation, r.record.Model = r.request.GetConversationId(), r.request.GetRequestedModel().GetModelId()
	r.record.Prompt = r.request.GetAction().GetUserMessageAction().GetUserMessage().GetText()
	r.record.Peer = r.call.r.RemoteAddr
	return func(life context.Context) { a.checkAlone(life, r, rivals) }
}

// leave counts the end of a run, and says what the client left undone.
func (a *runs) leave(r *Run) {
	record := r.closing()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(o *Run) bool { return o == r })
	a.stats.Open = len(a.open)
	a.stats.Ended[record.Outcome]++
	a.records = appendBounded(a.records, record)
	a.tell()
}

// announce is tell for who does not hold mu.
func (a *runs) announce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell()
}

// tell wakes who waits for a change. The caller holds mu.
func (a *runs) tell() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// RunStats returns the counters.
func (s *Sim) RunStats() RunStats {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	return s.runs.snapshot()
}

func (a *runs) snapshot() RunStats {
	stats := a.stats
	stats.Ended = map[Outcome]int{}
	for outcome, n := range a.stats.Ended {
		stats.Ended[outcome] = n
	}
	return stats
}

// Runs lists the runs that have ended, in that order.
func (s *Sim) Runs() []RunRecord {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	return slices.Clone(s.runs.records)
}

// AwaitRuns waits until the counters are as wanted, or until ctx ends.
func (s *Sim) AwaitRuns(ctx context.Context, wanted func(RunStats) bool) error {
	for {
		s.runs.mu.Lock()
		stats, changed := s.runs.snapshot(), s.runs.changed
		s.runs.mu.Unlock()
		if wanted(stats) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
