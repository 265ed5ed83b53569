package agentrpc

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorpb"
)

// Login gives out access tokens, see cursor.TokenSource. Its methods may be
// called at the same time; their errors are *chat.Error.
type Login interface {
	Token(ctx context.Context) (string, error)
	Renew(ctx context.Context, stale string) (string, error)
	SignedIn(ctx context.Context) error
}

// Host knows the agent host of the account, see cursor.AgentHost. Its methods
// may be called at the same time; their errors are *chat.Error.
type Host interface {
	Origin(ctx context.Context) (string, error)
	Forget()
}

// Config is what a Backend needs of the program.
type Config struct {
	// Transport makes the calls. It adds the login and the client headers
	// (cursor.Transport) over a Transport.
	Transport http.RoundTripper
	Login     Login
	Host      Host
	// Catalog returns the account's models; its error is a *chat.Error.
	Catalog func(ctx context.Context) (*cursor.Catalog, error)
	// Folder keeps conversations for a day, so that they outlive the program.
	// It is private to this program; "" keeps them in memory only.
	Folder string
	// MemoryOnly keeps none in Folder, and deletes those from before.
	MemoryOnly bool
	// MaxRuns limits the open runs, with those that wait for a tool; 0 is 24.
	MaxRuns int
	// SystemInFront puts the system text in front of the user's too.
	SystemInFront bool
	// RejectNative keeps the service's own kinds of work from being done by
	// tools of the client.
	RejectNative bool
	// LimitTokens ends an answer at the request's MaxTokens, as far as the
	// service tells how much it puts out.
	LimitTokens bool
	// RawUsage reports what the service counted over all calls of the model,
	// and not figures that add up to the size of the conversation.
	RawUsage bool
	// TimeZone is the IANA name of the local time zone; "" is what Go knows.
	TimeZone string
	// Notice gets announcements of the service, which are no part of an answer.
	// It must not block. May be nil.
	Notice func(text string)
	Logger *slog.Logger // nil discards
}

// Backend is a chat.Backend over Cursor's agent protocol.
type Backend struct {
	cfg        Config
	settings   settings
	times      timing
	runs       *registry
	shelf      *shelf
	calls      calls
	buffers    buffers
	toolboxes  toolboxes
	goroutines crew
}

const defaultMaxRuns = 24

// New returns a Backend. Until it is used it does nothing but delete conversations
// that are not to be kept.
func New(cfg Config) *Backend { return newBackend(cfg, defaultTiming()) }

func newBackend(cfg Config, times timing) *Backend {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxRuns <= 0 {
		cfg.MaxRuns = defaultMaxRuns
	}
	var disk *snapshots
	switch {
	case cfg.Folder != "" && cfg.MemoryOnly:
		discard(cfg.Folder)
	case cfg.Folder != "":
		disk = &snapshots{dir: cfg.Folder, life: times.snapshot, delay: times.saving, logger: cfg.Logger}
	}
	return &Backend{
		cfg: cfg, times: times, shelf: newShelf(times, disk), runs: newRegistry(cfg.MaxRuns, times),
		settings: settings{env: environment(cfg), systemInFront: cfg.SystemInFront, rejectNative: cfg.RejectNative},
	}
}

// environment describes the machine, without anything of the user's disk.
func environment(cfg Config) *cursorpb.RequestContextEnv {
	zone := cfg.TimeZone
	if zone == "" && time.Local.String() != "Local" {
		zone = time.Local.String()
	}
	return &cursorpb.RequestContextEnv{OsVersion: systemName, Shell: systemShell, TimeZone: zone}
}

// Chat runs one turn; see chat.Backend.
func (b *Backend) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		t := &turn{b: b, ctx: ctx, req: req, yield: yield, budget: budget{times: b.times}}
		if f := t.play(); f != nil && !t.gone {
			yield(nil, f.err)
		}
	}
}

// Models lists the account's models.
func (b *Backend) Models(ctx context.Context) ([]chat.Model, error) {
	catalog, err := b.cfg.Catalog(ctx)
	if err != nil {
		return nil, chat.AsError(err)
	}
	return catalog.Models(), nil
}

// Check tells whether a turn could begin: there is a login and a host.
func (b *Backend) Check(ctx context.Context) error {
	if b.runs.isClosed() {
		return shuttingDown()
	}
	if err := b.cfg.Login.SignedIn(ctx); err != nil {
		return chat.AsError(err)
	}
	if _, err := b.cfg.Host.Origin(ctx); err != nil {
		return chat.AsError(err)
	}
	return nil
}

// Forget gives up all runs and conversations, for another account.
func (b *Backend) Forget() {
	for _, r := range b.runs.opened() {
		r.leave(&fault{err: canceled(nil)})
	}
	b.shelf.clear()
}

// Close gives up all runs, and waits until the service has heard of it and
// nothing runs any more.
func (b *Backend) Close() error {
	open := b.runs.close()
	for _, r := range open {
		r.leaveWithin(&fault{err: shuttingDown()}, b.times.closing)
	}
	limit := time.NewTimer(2 * b.times.closing)
	defer limit.Stop()
	for _, r := range open {
		select {
		case <-r.done:
			continue
		case <-limit.C: // a client that does not read holds its turn up
		}
		break
	}
	b.goroutines.wait()
	b.shelf.close()
	return nil
}

func (b *Backend) notice(text string) {
	if b.cfg.Notice != nil {
		b.cfg.Notice(plain(text))
	}
}

// giveBack returns the conversation of a run that failed or was given up. What
// the service made of it counts as not made, unless it had got results and not
// begun to answer: then the same request can go on from there.
func (b *Backend) giveBack(r *run) {
	b.runs.gone(r) // before the next turn has the conversation
	c := r.conv
	if r.resumable() {
		c.commit(r.checkpoint)
		c.print, c.resume, c.partial = r.print, true, false
	}
	if c.state != nil && !c.partial {
		b.shelf.put(c)
	}
	b.shelf.disk.back(c.id)
}
