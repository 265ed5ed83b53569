package cursor

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	// modelsAge is how long a list is good. Lists change with the plan and when
	// Cursor adds a model, so each run of the program asks once in any case.
	modelsAge = 24 * time.Hour
	// modelsRetry is how long a refresh that failed is not tried again behind
	// the answers, modelsHold how long its error stands where there is no list.
	modelsRetry = 10 * time.Minute
	modelsHold  = 5 * time.Second
	// modelsLimit is for all calls of a refresh.
	modelsLimit = 30 * time.Second
)

// ModelCall makes a unary call in Connect JSON with the login, such as
// "aiserver.v1.AiService/AvailableModels", and returns the answer's body. It is
// called from several goroutines; its errors are *chat.Error.
type ModelCall func(ctx context.Context, method string, body any) ([]byte, error)

// NewModelCall returns a ModelCall through client, which adds the login.
func NewModelCall(client *http.Client, hosts Hosts) ModelCall {
	return func(ctx context.Context, method string, body any) ([]byte, error) {
		var answer json.RawMessage
		err := call(ctx, client, hosts.API()+"/"+method, body, &answer)
		return answer, err
	}
}

// ModelCacheConfig is what a ModelCache is made of.
type ModelCacheConfig struct {
	Call    ModelCall
	Dir     string // folder of the lists; "" keeps them in memory only
	Catalog CatalogConfig
	// WhileLoggedIn runs write if the account's login is still the stored one,
	// while no process can change that; nil just runs it.
	WhileLoggedIn func(ctx context.Context, account string, write func() error) error
	// Changed is called when Status would tell something new. It must not
	// block. May be nil.
	Changed func()
	Logger  *slog.Logger // nil discards
}

// ModelCache keeps the list of an account's models, in memory and in a file. A
// list is given out at once, however old it is, and renewed behind that. Its
// methods may be called at the same time; their errors are *chat.Error.
//
// It runs at most one goroutine for the current account, and those that it
// starts for the calls; Close waits for all.
type ModelCache struct {
	cfg      ModelCacheConfig
	finished sync.WaitGroup
	files    sync.Mutex // held while files change, which can take long

	mu      sync.Mutex // guards the rest; may be taken while files is held
	closed  bool
	account string
	opened  bool // the account's file was read
	lists   modelLists
	catalog *Catalog    // nil if there is none
	tried   time.Time   // end of the last refresh for the account in this run
	problem *chat.Error // of that refresh
	refresh *modelRefresh
}

// modelRefresh is a refresh that is under way.
type modelRefresh struct {
	stop    context.CancelFunc
	done    chan struct{}
	catalog *Catalog    // valid after done
	err     *chat.Error // valid after done
}

// ModelStatus tells how the list is doing.
type ModelStatus struct {
	Fetched    time.Time   // when Cursor sent the list; zero if there is none
	Refreshing bool        // a new one is under way
	Problem    *chat.Error // why the last refresh failed; nil if it did not
}

// NewModelCache returns a cache that has read nothing yet.
func NewModelCache(cfg ModelCacheConfig) *ModelCache {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	return &ModelCache{cfg: cfg}
}

// Catalog returns the models of the account, which is any text that tells
// accounts apart. It waits only if there is no list at all.
func (c *ModelCache) Catalog(ctx context.Context, account string) (*Catalog, error) {
	c.mu.Lock()
	if err := c.use(account); err != nil {
		c.mu.Unlock()
		return nil, err
	}
	if catalog := c.catalog; catalog != nil {
		if c.due() {
			c.start(ctx)
		}
		c.mu.Unlock()
		return catalog, nil
	}
	if err := c.problem; err != nil && time.Since(c.tried) < modelsHold {
		c.mu.Unlock()
		return nil, err
	}
	r := c.start(ctx)
	c.mu.Unlock()
	return r.wait(ctx)
}

// Refresh fetches the account's list and waits for it. If that fails, the old
// list stays.
func (c *ModelCache) Refresh(ctx context.Context, account string) (*Catalog, error) {
	c.mu.Lock()
	if err := c.use(account); err != nil {
		c.mu.Unlock()
		return nil, err
	}
	r := c.start(ctx)
	c.mu.Unlock()
	return r.wait(ctx)
}

// Status tells about the list of the account that was asked for last.
func (c *ModelCache) Status() ModelStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := ModelStatus{Refreshing: c.refresh != nil, Problem: c.problem}
	if c.catalog != nil {
		s.Fetched = c.catalog.Fetched()
	}
	return s
}

// Forget removes every list, from memory and disk. A refresh that is under way
// leaves nothing behind.
func (c *ModelCache) Forget() error {
	c.mu.Lock()
	c.reset("")
	c.mu.Unlock()
	c.files.Lock()
	defer c.files.Unlock()
	return removeModelFiles(c.cfg.Dir, "")
}

// Keep removes the lists of all accounts but this one.
func (c *ModelCache) Keep(account string) error {
	c.mu.Lock()
	if c.account != account {
		c.reset("")
	}
	c.mu.Unlock()
	c.files.Lock()
	defer c.files.Unlock()
	return removeModelFiles(c.cfg.Dir, modelPath("", account))
}

// Close ends the refresh that is under way and waits for it. Calls that come
// later fail.
func (c *ModelCache) Close() error {
	c.mu.Lock()
	c.closed = true
	if c.refresh != nil {
		c.refresh.stop()
	}
	c.mu.Unlock()
	c.finished.Wait()
	return nil
}

// use makes account the current one. It and the next ones need c.mu.
func (c *ModelCache) use(account string) *chat.Error {
	if c.closed {
		return &chat.Error{Kind: chat.ShuttingDown, Message: "cursortray is ending"}
	}
	if c.account != account {
		c.reset(account)
	}
	if !c.opened {
		c.opened = true
		c.open()
	}
	return nil
}

func (c *ModelCache) reset(account string) {
	if c.refresh != nil {
		c.refresh.stop() // its result is dropped: it is no longer c.refresh
	}
	c.account, c.opened, c.refresh = account, false, nil
	c.lists, c.catalog, c.tried, c.problem = modelLists{}, nil, time.Time{}, nil
}

// open takes the list from the file. A file that is damaged, or of another
// version, is as good as none: the list is fetched again.
func (c *ModelCache) open() {
	lists, fetched, err := readModelFile(c.cfg.Dir, c.account)
	if err == nil {
		c.catalog, err = newCatalog(lists, fetched, c.cfg.Catalog)
	}
	if err != nil {
		c.cfg.Logger.Debug("no stored list of models", "error", err)
		c.catalog = nil
		return
	}
	c.lists = lists
}

// due says whether the list is to be renewed.
func (c *ModelCache) due() bool {
	if c.tried.IsZero() {
		return true
	}
	old := c.problem != nil || time.Since(c.catalog.Fetched()) >= modelsAge
	return old && time.Since(c.tried) >= modelsRetry
}

// start begins a refresh, unless one is under way. It goes on when ctx ends:
// others may wait for it, and its result is kept.
func (c *ModelCache) start(ctx context.Context) *modelRefresh {
	if c.refresh != nil {
		return c.refresh
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), modelsLimit)
	r := &modelRefresh{stop: stop, done: make(chan struct{})}
	c.refresh = r
	old, account := c.lists, c.account
	c.finished.Go(func() {
		defer stop()
		lists, incomplete, err := c.fetch(ctx, old)
		c.finish(ctx, r, account, lists, incomplete, err)
	})
	return r
}

func (r *modelRefresh) wait(ctx context.Context) (*Catalog, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, chat.AsError(ctx.Err())
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.catalog, nil
}

// finish takes over what a refresh has brought. incomplete is a reason to try
// again soon.
func (c *ModelCache) finish(ctx context.Context, r *modelRefresh, account string, lists modelLists, incomplete, err *chat.Error) {
	fetched := time.Now().Round(0) // ages count the sleep of the machine, too
	if err == nil {
		var fault error
		if r.catalog, fault = newCatalog(lists, fetched, c.cfg.Catalog); fault != nil {
			err = unreadableModels(fault)
		}
	}
	r.err = err
	c.mu.Lock()
	current := c.refresh == r
	switch {
	case !current:
		r.err = &chat.Error{Kind: chat.Canceled, Message: "the account has changed"}
	case err != nil:
		c.refresh, c.tried, c.problem = nil, fetched, err
	default:
		c.refresh, c.tried, c.problem = nil, fetched, incomplete
		c.lists, c.catalog = lists, r.catalog
	}
	c.mu.Unlock()
	close(r.done)
	if !current {
		return
	}
	if err != nil {
		c.cfg.Logger.Info("the list of models could not be fetched", "error", err)
	} else {
		c.store(ctx, r, account, lists, fetched)
	}
	c.cfg.Changed()
}

// store writes the file, unless the list was forgotten in the meantime,
// by this process or another one that has logged out.
func (c *ModelCache) store(ctx context.Context, r *modelRefresh, account string, lists modelLists, fetched time.Time) {
	c.files.Lock()
	defer c.files.Unlock()
	c.mu.Lock()
	current := c.catalog == r.catalog
	c.mu.Unlock()
	if !current {
		return
	}
	write := func() error { return writeModelFile(c.cfg.Dir, account, lists, fetched) }
	var err error
	if c.cfg.WhileLoggedIn != nil && c.cfg.Dir != "" {
		err = c.cfg.WhileLoggedIn(ctx, account, write)
	} else {
		err = write()
	}
	if err != nil {
		c.cfg.Logger.Warn("the list of models could not be stored", "error", err)
	}
}
