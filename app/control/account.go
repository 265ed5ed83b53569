package control

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Account is the Cursor account in `cursortray status --json`.
type Account struct {
	State   string `json:"state"`             // none, unread, out, pending, in or expired
	Email   string `json:"email,omitempty"`   // who is logged in, if known
	Storage string `json:"storage,omitempty"` // where the login lies: keychain, file or memory
	Warning string `json:"warning,omitempty"` // why the login will not last
	Problem string `json:"problem,omitempty"` // why nobody is logged in, beyond that nobody has
}

func accountOf(a app.AccountStatus) Account {
	account := Account{State: a.State.String(), Email: a.Email, Storage: a.Storage, Warning: a.Warning}
	if a.Problem != nil {
		account.Problem = a.Problem.Message
	}
	return account
}

// Attempt is a login that is under way.
type Attempt struct {
	N     int    `json:"attempt"`
	URL   string `json:"url"`   // the page to confirm it on
	Begun bool   `json:"begun"` // by this call; false: it was under way already
}

// AccountOwner is the running App as the owner of the Cursor account. *app.App
// is one. The methods return when they are done; errors are *chat.Error.
type AccountOwner interface {
	LoginWithKey(ctx context.Context, key string) error
	Logout(ctx context.Context) error
	Plan(ctx context.Context, fresh bool) (app.Usage, error)
	SetDefaultModel(ctx context.Context, name string) error
	KeepLoginInFile(ctx context.Context) error
}

// whoTime is how long a login that has succeeded waits for the name to show.
const whoTime = 3 * time.Second

func (s *server) accountRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("GET /login", s.loginWait)
	mux.HandleFunc("DELETE /login", s.loginCancel)
	mux.HandleFunc("POST /login/key", s.loginKey)
	mux.HandleFunc("POST /login/file", s.keepInFile)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc("GET /usage", s.usage)
	mux.HandleFunc("POST /models/default", s.defaultModel)
}

// login begins an attempt, or joins the one under way.
func (s *server) login(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), settleTime)
	defer cancel()
	before := s.cfg.Instance.Snapshot().Account
	watch := s.cfg.Instance.Watch(ctx)
	s.cfg.Instance.Do(app.SignIn{NoBrowser: r.FormValue("browser") == "no"})
	for snapshot := range watch {
		if l := snapshot.Account.Login; l.URL != "" {
			reply(w, Attempt{N: l.N, URL: l.URL, Begun: l.N != before.Login.N})
			return
		}
		if snapshot.Account.State == app.NoAccount {
			break
		}
	}
	refuse(w, chat.Errorf(chat.Unavailable, "no login could be started"))
}

// loginWait answers when the attempt is over: with the account, or with why
// there is none.
func (s *server) loginWait(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("attempt"))
	if err != nil {
		refuse(w, chat.Errorf(chat.Invalid, "which attempt?"))
		return
	}
	for snapshot := range s.cfg.Instance.Watch(r.Context()) {
		switch l := snapshot.Account.Login; {
		case l.N == n && l.URL != "":
			continue
		case l.N == n && l.Failure != nil:
			refuse(w, l.Failure)
		case l.N != n || l.Cancelled:
			refuse(w, chat.Errorf(chat.Canceled, "the login was cancelled"))
		default:
			s.replyAccount(w, r)
		}
		return
	}
	refuse(w, chat.Errorf(chat.ShuttingDown, "cursortray is ending"))
}

// replyAccount answers with the account, after a moment in which the name of
// a new one comes to be known.
func (s *server) replyAccount(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), whoTime)
	defer cancel()
	for snapshot := range s.cfg.Instance.Watch(ctx) {
		if snapshot.Account.State == app.LoggedIn && snapshot.Account.Email != "" {
			break
		}
	}
	reply(w, accountOf(s.cfg.Instance.Snapshot().Account))
}

func (s *server) loginCancel(w http.ResponseWriter, _ *http.Request) {
	s.cfg.Instance.Do(app.CancelSignIn{})
	reply(w, struct{}{})
}

func (s *server) loginKey(w http.ResponseWriter, r *http.Request) {
	var body keyBody
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, maxKeyBody)).Decode(&body) != nil {
		refuse(w, chat.Errorf(chat.Invalid, "no key"))
		return
	}
	if err := s.cfg.Account.LoginWithKey(r.Context(), body.Key); err != nil {
		refuse(w, err)
		return
	}
	s.replyAccount(w, r)
}

// maxKeyBody is far above the length of a key.
const maxKeyBody = 64 << 10

func (s *server) keepInFile(w http.ResponseWriter, r *http.Request) {
	if err := s.cfg.Account.KeepLoginInFile(r.Context()); err != nil {
		refuse(w, err)
		return
	}
	reply(w, struct{}{})
}

func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	if err := s.cfg.Account.Logout(r.Context()); err != nil {
		refuse(w, err)
		return
	}
	reply(w, struct{}{})
}
