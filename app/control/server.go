package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Instance is the running App as the control socket needs it. *app.App is one.
type Instance interface {
	Snapshot() app.Snapshot
	// Watch yields snapshots, the latest first, until ctx or the App ends.
	Watch(ctx context.Context) <-chan app.Snapshot
	// Do returns at once.
	Do(app.Action)
}

// Config is what a server is made of. All methods it calls may be called from
// several goroutines.
type Config struct {
	Instance Instance
	Keys     app.Keys
	Account  AccountOwner
	// EditorKeys are the keys of editors; nil: there are none.
	EditorKeys EditorKeys
	Models     func(ctx context.Context) ([]chat.Model, error)
	// Dashboard makes a link to a page of the dashboard.
	Dashboard func(ctx context.Context, page string) (string, error)
	Logger    *slog.Logger
}

// settleTime is how long start and stop wait for their effect. Stopping lets
// running answers end, which takes at most the proxy's grace. retryTime is how
// long a blocked port may look the same before it counts as blocked again.
const (
	settleTime = 10 * time.Second
	retryTime  = time.Second
)

// Serve answers on the holder's socket until ctx ends, and returns when its
// last request is done. It gives the holder's claim up.
func (h *Holder) Serve(ctx context.Context, cfg Config) error {
	server := &http.Server{
		Handler:           routes(cfg),
		ReadHeaderTimeout: 5 * time.Second,
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(h.ln) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
		<-failed
	}
	return errors.Join(err, h.Close())
}

func routes(cfg Config) http.Handler {
	s := &server{cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", s.status)
	mux.HandleFunc("POST /do/start", s.start)
	mux.HandleFunc("POST /do/stop", s.stop)
	mux.HandleFunc("POST /do/quit", s.quit)
	mux.HandleFunc("POST /do/look", s.look)
	mux.HandleFunc("POST /do/allow", s.allow)
	mux.HandleFunc("GET /key", s.key(cfg.Keys.Key))
	mux.HandleFunc("POST /key", s.key(cfg.Keys.NewKey))
	mux.HandleFunc("GET /models", s.models)
	mux.HandleFunc("POST /open", s.openDashboard)
	s.accountRoutes(mux)
	s.recordRoutes(mux)
	s.actRoutes(mux)
	s.editorRoutes(mux)
	return mux
}

type server struct{ cfg Config }

func (s *server) status(w http.ResponseWriter, _ *http.Request) {
	reply(w, statusOf(s.cfg.Instance.Snapshot()))
}

func (s *server) start(w http.ResponseWriter, r *http.Request) {
	s.settle(w, r, app.StartProxy{}, func(p app.ProxyState) bool { return p == app.Running || p == app.Blocked })
}

func (s *server) stop(w http.ResponseWriter, r *http.Request) {
	s.settle(w, r, app.StopProxy{}, func(p app.ProxyState) bool { return p == app.Stopped })
}

// settle asks for the action and answers with the status once it had its
// effect, so that a script can go on with what it wanted the port for.
func (s *server) settle(w http.ResponseWriter, r *http.Request, action app.Action, done func(app.ProxyState) bool) {
	ctx, cancel := context.WithTimeout(r.Context(), settleTime)
	defer cancel()
	before := s.cfg.Instance.Snapshot().Proxy.State
	watch := s.cfg.Instance.Watch(ctx)
	s.cfg.Instance.Do(action)
	// A blocked port still is blocked until the next attempt has begun, and a
	// watcher may miss the moment between two failures.
	retry := time.NewTimer(retryTime)
	defer retry.Stop()
	changed := before != app.Blocked
	for {
		select {
		case snapshot, open := <-watch:
			state := snapshot.Proxy.State
			changed = changed || state != before
			if open && !(changed && done(state)) {
				continue
			}
		case <-retry.C:
			if changed {
				continue
			}
		}
		break
	}
	reply(w, statusOf(s.cfg.Instance.Snapshot()))
}

func (s *server) quit(w http.ResponseWriter, _ *http.Request) {
	s.cfg.Instance.Do(app.Quit{})
	reply(w, struct{}{})
}

// look makes the instance look at what others may have changed.
func (s *server) look(w http.ResponseWriter, _ *http.Request) {
	s.cfg.Instance.Do(app.MenuOpened{})
	reply(w, struct{}{})
}

// keyBody carries the local key over the socket.
type keyBody struct {
	Key string `json:"key"`
}

func (s *server) key(get func(context.Context) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, err := get(r.Context())
		if err != nil {
			refuse(w, err)
			return
		}
		reply(w, keyBody{key})
	}
}

// failure is the body of every answer that is not 200.
type failure struct {
	Kind    chat.Kind `json:"kind"`
	Code    string    `json:"code,omitempty"`
	Message string    `json:"message"`
}

func refuse(w http.ResponseWriter, err error) {
	e := chat.AsError(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	json.NewEncoder(w).Encode(failure{e.Kind, e.Code, e.Message}) // the client may be gone
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value) // the client may be gone
}
