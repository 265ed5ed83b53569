// Package dashboard is the local web page of a running cursortray: what the
// menu tells and does, where people would rather look than read. It makes HTML
// from the Snapshots of the App, the ledger, the editors and the settings, sends
// newer pieces of it to open pages, and turns presses of buttons into Actions.
//
// It listens on nothing: the proxy serves it on its port, behind the guard
// against foreign hosts and origins. Who may see it is decided here: whoever has
// opened a one-time link, by the cookie that the link was exchanged for. It
// starts no goroutines; everything happens in those of requests.
package dashboard

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Root is the path below which the dashboard is served.
const Root = "/dashboard/"

// Instance is the running App. *app.App is one. Its methods may be called from
// any goroutine.
type Instance interface {
	Snapshot() app.Snapshot
	// Watch yields Snapshots, the latest first, until ctx or the App ends.
	Watch(ctx context.Context) <-chan app.Snapshot
	// Do returns at once.
	Do(app.Action)
	// LoginWithKey returns when the login is done. Its error, a *chat.Error, does
	// not hold the key.
	LoginWithKey(ctx context.Context, key string) error
}

// Config is what a Dashboard is made of. A nil part is one that this program
// runs without, and its pages say so. All methods may be called from several
// goroutines; errors are for people to read.
type Config struct {
	App      Instance
	Keys     app.Keys
	Ledger   Ledger
	Manuals  Manuals
	Settings Settings
	// Diagnose looks for everything that can be wrong. It may take long.
	Diagnose func(ctx context.Context) Report
	Logger   *slog.Logger     // nil is silence
	Now      func() time.Time // nil is time.Now
}

// Dashboard is an http.Handler for what is below Root.
type Dashboard struct {
	cfg     Config
	doors   *doors
	pages   []*page
	looks   *looks
	mux     *http.ServeMux
	streams atomic.Int32

	mu     sync.Mutex // guards report
	report examined
}

//go:embed static templates
var files embed.FS

// New returns a Dashboard. Its error is one of the program's own files.
func New(cfg Config) (*Dashboard, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	looks, err := parseLooks()
	if err != nil {
		return nil, err
	}
	d := &Dashboard{cfg: cfg, doors: newDoors(cfg.Now), pages: allPages(), looks: looks, mux: http.NewServeMux()}
	d.mux.HandleFunc("GET "+Root+"static/{path...}", static)
	d.mux.HandleFunc("GET "+Root+"open", d.enter)
	d.mux.HandleFunc("GET "+Root+"ping", d.ping)
	d.mux.Handle("GET "+Root+"{$}", d.known(d.showPage))
	d.mux.Handle("GET "+Root+"{page}", d.known(d.showPage))
	d.mux.Handle("GET "+Root+"events", d.known(d.events))
	d.mux.Handle("GET "+Root+"data/context", d.known(d.contextData))
	d.mux.Handle("GET "+Root+"data/spend", d.known(d.spendData))
	d.mux.Handle("POST "+Root+"do", d.known(d.trusted(d.act)))
	return d, nil
}

// Link returns a path with a query that opens the page, once and for a minute.
// The error, a *chat.Error, says that there is no such page.
func (d *Dashboard) Link(name string) (string, error) {
	p := d.page(name)
	if p == nil {
		return "", chat.Errorf(chat.Invalid, "the dashboard has no page of that name; there are %s", pageNames(d.pages))
	}
	return Root + "open?page=" + p.name + "&token=" + d.doors.link(), nil
}

// ServeHTTP answers every request with the headers that keep the page to
// itself.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	d.mux.ServeHTTP(w, r)
}

// static serves a file that holds nothing of anybody's, so that the locked page
// looks like one of ours.
func static(w http.ResponseWriter, r *http.Request) {
	text, err := files.ReadFile(path.Join("static", path.Clean("/"+r.PathValue("path"))))
	if err != nil {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	kinds := map[string]string{".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
	kind := kinds[path.Ext(r.URL.Path)]
	if kind == "" {
		kind = "text/plain"
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = w.Write(text) // a failed write means that the browser has left
}
