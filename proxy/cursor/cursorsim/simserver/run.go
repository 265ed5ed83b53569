package simserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	"cursortray/proxy/cursor/cursorpb"
)

// RunPath is the call that carries a run.
const RunPath = cursorpb.AgentServiceRunProcedure

// Run is one run of a client: one turn of a conversation. A script has it for
// as long as it plays. Methods may be called from any goroutine until then.
type Run struct {
	sim     *Sim
	call    *call
	account Account
	rules   RunRules
	wire    *wire
	upload  *upload
	stream  *connect.BidiStream[inbound, outbound]

	ctx    context.Context // of the script
	cancel context.CancelCauseFunc
	opened chan struct{} // closed when the first message is there, or none will come
	read   chan struct{} // closed when nothing more can come from the client

	out    sync.Mutex // one writer at a time; guards the two below
	frames *framing   // nil for frames as connect writes them
	quiet  bool       // no heartbeats

	mu      sync.Mutex // guards all below
	request *cursorpb.AgentRunRequest
	raw     []byte // the request as it came
	first   bool   // a first message came, whatever it was
	bad     *RunError

	lastBeat time.Time
	paused   bool
	resumed  time.Time
	ended    bool      // turn_ended was sent, or the run failed
	over     time.Time // the last envelope was sent
	leftAt   time.Time // the client has left or cancelled
	canceled bool      // by a cancel action
	closed   bool      // the client has ended its half of the stream
	nextID   uint32
	sequence uint64 // of what was asked of the client
	seen     uint64 // the newest of what the client has answered
	execs    []*Exec
	kvs      []*blobRequest
	queries  []*Query
	tools    *toolset // from the request context or the request
	last     []ExecAnswer
	used     int // tokens of output
	record   RunRecord
	talk     *conversation
}

// Causes of the end of a run's context.
var (
	errClientLeft = errors.New("the client has left")
	errHalfClosed = errors.New("the client has ended its half of the stream")
	errCanceled   = errors.New("the client has cancelled the turn")
)

// runKey finds the Run in the context of a call.
type runKey struct{}

// newRunHandler is connect's side of a run. Nothing is compressed, but connect
// tells the client that it may be: steps compress what they want to.
func (s *Sim) newRunHandler() http.Handler {
	return connect.NewBidiStreamHandler(RunPath, s.run, connect.WithCodec(runCodec{}),
		connect.WithCompressMinBytes(1<<30), connect.WithReadMaxBytes(maxUpload))
}

// maxUpload bounds a message of a client.
const maxUpload = 64 << 20

// serveRun answers the call of a run. The faults of hits that spoil whole
// answers do nothing here: a run has steps for them.
func (s *Sim) serveRun(w http.ResponseWriter, c *call) {
	if c.r.ProtoMajor < 2 {
		s.violate(c, "http-version", "a run over HTTP/1.1")
		// The status of the load balancer in front of the real service.
		write(w, answer{status: 464, contentType: "text/plain", body: []byte("incompatible protocol versions\n")})
		return
	}
	account, refused := s.authorize(c)
	if refused != nil {
		write(w, *refused)
		return
	}
	r := &Run{
		sim: s, call: c, account: account, rules: s.RunRules(), nextID: 1,
		wire: newWire(w), opened: make(chan struct{}), read: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancelCause(context.WithValue(c.r.Context(), runKey{}, r))
	defer r.cancel(nil)
	r.upload = newUpload(c.r.Body, func(rule, detail string) { r.violate(rule, detail) })
	inner := c.r.WithContext(r.ctx)
	inner.Body = r.upload
	s.runHandler.ServeHTTP(r.wire, inner)
	r.wire.end()
}

// run is the call as connect hands it over.
func (s *Sim) run(ctx context.Context, stream *connect.BidiStream[inbound, outbound]) error {
	r, _ := ctx.Value(runKey{}).(*Run)
	r.stream = stream
	r.live()
	return nil
}

// live is a run from the beginning to the end.
func (r *Run) live() {
	r.wire.Flush() // the client wants to know that it was heard
	var own sync.WaitGroup
	own.Go(r.receive)
	defer own.Wait()
	defer r.upload.stop(r.wire)

	r.lastBeat = r.sim.clock()
	select {
	case <-r.opened: // also when the client leaves
	case <-r.sim.ctx.Done():
		return
	}
	if r.request == nil && r.bad == nil {
		return
	}
	if r.bad == nil {
		r.bad = r.checkOpening()
	}
	if r.bad != nil {
		r.finish(r.bad)
		return
	}
	alone := r.sim.runs.enter(r)
	defer r.sim.runs.leave(r)
	life, stop := context.WithCancel(r.ctx)
	defer stop()
	own.Go(func() { r.beat(life) })
	own.Go(func() { alone(life) })
	own.Go(func() { r.watchClient(life) })
	r.finish(r.sim.nextScript()(r))
}

// watchClient remembers when the client left.
func (r *Run) watchClient(life context.Context) {
	<-life.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		r.leftAt = r.sim.clock()
	}
}

// beat sends the server's signs of life.
func (r *Run) beat(ctx context.Context) {
	tick := time.NewTicker(r.rules.ServerHeartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.out.Lock()
			quiet := r.quiet || r.frames != nil
			r.out.Unlock()
			if !quiet {
				_ = r.Update(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_Heartbeat{Heartbeat: &cursorpb.HeartbeatUpdate{}}})
			}
		case <-ctx.Done():
			return
		}
	}
}

// receive takes what the client writes.
func (r *Run) receive() {
	defer close(r.read)
	defer r.open()
	for {
		m, err := r.stream.Receive()
		if err != nil {
			r.uploadEnded(err)
			return
		}
		r.take(m)
	}
}

// open tells that the first message was taken.
func (r *Run) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.first {
		r.first = true
		close(r.opened)
	}
}

// Request is the message that opened the run. It must not be changed.
func (r *Run) Request() *cursorpb.AgentRunRequest { return r.request }

// Context ends when the client leaves or cancels.
func (r *Run) Context() context.Context { return r.ctx }

// Account is who runs it.
func (r *Run) Account() Account { return r.account }

// Header is what the call came with.
func (r *Run) Header() http.Header { return r.call.r.Header }

// Conversation is the client's id of the conversation.
func (r *Run) Conversation() string { return r.request.GetConversationId() }

// Wait pauses, or returns early with the reason why the run is over.
func (r *Run) Wait(d time.Duration) error {
	if d <= 0 {
		return context.Cause(r.ctx)
	}
	if !wait(r.ctx, d) {
		return context.Cause(r.ctx)
	}
	return nil
}

func (r *Run) violate(rule, detail string) { r.sim.violate(r.call, rule, detail) }
