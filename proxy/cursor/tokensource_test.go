package cursor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

const exchangePath = "/auth/exchange_user_api_key"

// inParallel calls f n times at once and returns the different results.
func inParallel(t *testing.T, n int, f func() (string, error)) map[string]int {
	t.Helper()
	results := make(map[string]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			token, err := f()
			mu.Lock()
			defer mu.Unlock()
			results[fmt.Sprint(token, err)]++
		})
	}
	all.Wait()
	return results
}

func TestAU1_OneRenewalForAll(t *testing.T) {
	for _, way := range []string{exchangePath, "/auth/token", "/auth/refresh"} {
		t.Run(way, func(t *testing.T) {
			f := newFakeCursor(t)
			for _, other := range []string{exchangePath, "/auth/token", "/auth/refresh"} {
				if other != way {
					f.faults[other] = status(404)
				}
			}
			old := f.login(2 * time.Minute) // due, but still accepted
			store := storeOf(old)
			s := newSource(t, f.config(t, store))
			results := inParallel(t, 50, func() (string, error) { return s.Token(t.Context()) })
			if len(results) != 1 {
				t.Errorf("%d different results", len(results))
			}
			token, err := s.Token(t.Context())
			if err != nil || token == old.access || !f.valid[token] {
				t.Errorf("Token: new %v, %v", token != old.access, err)
			}
			f.wantCalls(t, way, 1)
			if c, ok := store.stored(t); !ok || c.access != token || c.refresh != f.refresh {
				t.Error("the renewed login was not stored")
			}
			// The second renewal goes to the way that worked.
			before := f.count(exchangePath)
			if _, err := s.Renew(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			s.note(func() { s.renewed = time.Time{} })
			if _, err := s.Renew(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			f.wantCalls(t, way, 2)
			if way != exchangePath {
				f.wantCalls(t, exchangePath, before)
			}
		})
	}
}

func TestAU1_AnotherProcessWasFirst(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(time.Minute))
	cfg := f.config(t, store)
	ours, theirs := newSource(t, cfg), newSource(t, cfg)
	if err := ours.SignedIn(t.Context()); err != nil { // has read the old login
		t.Fatal(err)
	}
	theirToken, err := theirs.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := ours.Token(t.Context())
	if err != nil || token != theirToken {
		t.Errorf("the other process's token was not used: %v", err)
	}
	f.wantCalls(t, exchangePath, 1)
}

func TestAU1_AFailedRenewalEndsOnlyTheLoginThatFailed(t *testing.T) {
	f := newFakeCursor(t)
	old := f.login(time.Minute)
	store := storeOf(old)
	s := newSource(t, f.config(t, store))
	var newer Credentials
	// While the renewal fails, another program logs in.
	f.faults[exchangePath] = func(w http.ResponseWriter) {
		newer = newCredentials(f.access(time.Hour), "refresh-secret-new", "")
		if err := store.Set(t.Context(), loginName, newer.encode()); err != nil {
			t.Error(err)
		}
		w.WriteHeader(401)
	}
	token, err := s.Token(t.Context())
	if err != nil || token != newer.access {
		t.Errorf("the newer login was not used: %v", err)
	}
	if c, ok := store.stored(t); !ok || !c.same(newer) {
		t.Error("the newer login was deleted")
	}
}

func TestAU2_LoginThatRanOut(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(-48 * time.Hour))
	s := newSource(t, f.config(t, store))
	if token, err := s.Token(t.Context()); err != nil || !f.valid[token] {
		t.Errorf("Token: %v", err)
	}
	f.wantCalls(t, exchangePath, 1)
	if store.gets > 2 {
		t.Errorf("the store was read %d times", store.gets)
	}
}

func TestAU2_EndOfTheLogin(t *testing.T) {
	for name, fault := range map[string]func(http.ResponseWriter){
		"401": status(401), "403": said(403, `{"error":"Forbidden"}`), "403 of Connect": said(403, `{"code":"permission_denied","message":"no"}`),
		"logout with 200": said(200, `{"accessToken":"","shouldLogout":true}`), "logout with 400": said(400, `{"shouldLogout":true}`),
		"logout with tokens": said(200, `{"accessToken":"new-secret","refreshToken":"new-secret","shouldLogout":true}`),
	} {
		t.Log(name)
		f := newFakeCursor(t)
		f.faults[exchangePath] = fault
		store := storeOf(f.login(time.Minute))
		cfg := f.config(t, store)
		changes := make(chan bool, 10)
		cfg.Changed = func(in bool) { changes <- in }
		s := newSource(t, cfg)
		for range 3 {
			_, err := s.Token(t.Context())
			wantCode(t, err, chat.LoginRequired, CodeLoginEnded)
		}
		f.wantCalls(t, exchangePath, 1)
		if _, ok := store.stored(t); ok {
			t.Error("the ended login is still stored")
		}
		if in := <-changes; in || len(changes) > 0 {
			t.Error("wrong report of the change")
		}
	}
}

func TestPassingFaultsDoNotEndTheLogin(t *testing.T) {
	faults := map[string]func(http.ResponseWriter){
		"status 503": status(503), "status 429": status(429), "status 403": status(403), "firewall 403": said(403, `{"blocked":"policy 7"}`), "page 403": page(403), "page 200": page(200), "cut": cutBody,
		"no such calls": status(404),
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			f := newFakeCursor(t)
			for _, path := range []string{exchangePath, "/auth/token", "/auth/refresh"} {
				f.faults[path] = fault
			}
			due := f.login(time.Minute)
			store := storeOf(due)
			s := newSource(t, f.config(t, store))
			for range 5 {
				if token, err := s.Token(t.Context()); err != nil || token != due.access {
					t.Fatalf("a token that is good for a minute is not used: %v", err)
				}
			}
			if n := f.count(exchangePath); n != 1 {
				t.Errorf("%d tries in a row", n)
			}
			// Once it has run out there is nothing left to use.
			s.note(func() { s.creds.expiry = time.Now().Add(-time.Minute) })
			if _, err := s.Token(t.Context()); chat.AsError(err).Kind == chat.LoginRequired || err == nil {
				t.Errorf("err = %v", err)
			}
			if _, ok := store.stored(t); !ok {
				t.Error("the login was deleted")
			}
			f.set(func() { clear(f.faults) })
			if token, err := s.Token(t.Context()); err != nil || token == due.access {
				t.Errorf("after the fault: %v", err)
			}
		})
	}
}

func TestAU3_NobodyLoggedIn(t *testing.T) {
	f := newFakeCursor(t)
	store := &memStore{}
	s := newSource(t, f.config(t, store))
	inParallel(t, 100, func() (string, error) { return s.Token(t.Context()) })
	_, err := s.Token(t.Context())
	wantCode(t, err, chat.LoginRequired, CodeLoginRequired)
	wantCode(t, s.SignedIn(t.Context()), chat.LoginRequired, CodeLoginRequired)
	if store.gets != 1 {
		t.Errorf("the store was read %d times", store.gets)
	}
	// Another process logs in; the user asks to look again.
	if err := store.Set(t.Context(), loginName, f.login(time.Hour).encode()); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if err := s.SignedIn(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestKC2_StoreReadOnce(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(time.Hour))
	s := newSource(t, f.config(t, store))
	results := inParallel(t, 1000, func() (string, error) { return s.Token(t.Context()) })
	if len(results) != 1 || store.gets != 1 {
		t.Errorf("%d results, %d reads", len(results), store.gets)
	}
}

func TestStoreThatIsLocked(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(time.Hour))
	store.getErr = errors.New("the keychain is locked; unlock it")
	s := newSource(t, f.config(t, store))
	for range 3 {
		_, err := s.Token(t.Context())
		wantCode(t, err, chat.LoginRequired, CodeUnreadable)
	}
	if store.gets != 1 {
		t.Errorf("the store was asked %d times", store.gets)
	}
	store.getErr = nil
	s.Reload()
	if _, err := s.Token(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLoginThatCannotBeSaved(t *testing.T) {
	f := newFakeCursor(t)
	f.life = time.Minute // so that each is due at once
	store := storeOf(f.login(time.Hour))
	store.setErr = errors.New("no keychain")
	s := newSource(t, f.config(t, store))
	mine := f.login(time.Minute)
	wantCode(t, s.SignIn(t.Context(), mine), chat.Unavailable, CodeNotSaved)
	for i := 1; i <= 3; i++ {
		token, err := s.Token(t.Context())
		if err != nil || !f.valid[token] || token == mine.access {
			t.Fatalf("renewal %d: %v", i, err)
		}
		f.wantCalls(t, exchangePath, i)
	}
	// With a store that has nothing at all.
	empty := &memStore{setErr: errors.New("no keychain")}
	s = newSource(t, f.config(t, empty))
	wantCode(t, s.SignIn(t.Context(), f.login(time.Minute)), chat.Unavailable, CodeNotSaved)
	if _, err := s.Token(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOldRefreshTokenStaysGood(t *testing.T) {
	f := newFakeCursor(t)
	f.rotate = false
	store := storeOf(f.login(-time.Minute))
	s := newSource(t, f.config(t, store))
	if _, err := s.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c, _ := store.stored(t); c.refresh != "refresh-secret-0" {
		t.Error("the refresh token was lost")
	}
}

func TestAU4_KeyIsExchangedAgain(t *testing.T) {
	f := newFakeCursor(t)
	f.life = time.Minute
	cfg := f.config(t, &memStore{})
	c, err := LoginWithKey(t.Context(), cfg, "crsr_secret")
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, cfg)
	if err := s.SignIn(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.life = time.Hour })
	token, err := s.Token(t.Context())
	if err != nil || token == c.access {
		t.Errorf("the key was not exchanged before the token's end: %v", err)
	}
	f.wantCalls(t, exchangePath, 2)
	f.set(func() { f.key = "crsr_new" })
	s.note(func() { s.renewed = time.Time{} })
	_, err = s.Renew(t.Context(), token)
	wantCode(t, err, chat.LoginRequired, CodeLoginEnded)
	f.wantCalls(t, "/auth/token", 0)
	f.wantCalls(t, "/auth/refresh", 0)
}

func TestTokensThatDoNotTellTheirEnd(t *testing.T) {
	f := newFakeCursor(t)
	f.opaque = true
	s := newSource(t, f.config(t, storeOf(f.login(time.Hour))))
	for range 5 {
		if _, err := s.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.wantCalls(t, exchangePath, 1)
	// If it cannot be renewed it is used until Cursor refuses it.
	f = newFakeCursor(t)
	f.opaque = true
	f.faults[exchangePath] = status(503)
	c := f.login(time.Hour)
	s = newSource(t, f.config(t, storeOf(c)))
	for range 5 {
		if token, err := s.Token(t.Context()); err != nil || token != c.access {
			t.Fatal(err)
		}
	}
	f.wantCalls(t, exchangePath, 1)
	_, err := s.Renew(t.Context(), c.access)
	wantCode(t, err, chat.BadGateway, CodeServer)
}

// A token that does not tell its end is good until Cursor refuses it, even if
// nothing renews it.
func TestTokenThatCannotBeReadIsNotGivenUp(t *testing.T) {
	f := newFakeCursor(t)
	f.opaque = true
	f.faults[exchangePath] = status(401)
	c := f.login(time.Hour)
	store := storeOf(c)
	s := newSource(t, f.config(t, store))
	for range 3 {
		if token, err := s.Token(t.Context()); err != nil || token != c.access {
			t.Fatalf("the token is not used: %v", err)
		}
	}
	f.wantCalls(t, exchangePath, 1)
	if _, ok := store.stored(t); !ok {
		t.Error("the login was deleted")
	}
	_, err := s.Renew(t.Context(), c.access)
	wantCode(t, err, chat.LoginRequired, CodeLoginEnded)
}

func TestAccessTokenAlone(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(newCredentials(f.access(time.Minute), "", ""))
	s := newSource(t, f.config(t, store))
	token, err := s.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Renew(t.Context(), token)
	wantCode(t, err, chat.LoginRequired, CodeLoginEnded)
	if len(store.values) > 0 {
		t.Error("the refused token is still stored")
	}
}

func TestWrongClock(t *testing.T) {
	for _, skew := range []time.Duration{-30 * 24 * time.Hour, 30 * 24 * time.Hour} {
		f := newFakeCursor(t)
		f.skew = skew
		s := newSource(t, f.config(t, storeOf(f.login(-time.Hour))))
		token, err := s.Renew(t.Context(), s.mustRead(t))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if again, err := s.Token(t.Context()); err != nil || again != token {
				t.Fatalf("a clock that is %v behind: %v", skew, err)
			}
		}
		f.wantCalls(t, exchangePath, 1)
	}
}

// mustRead returns the stored access token, whatever its age.
func (s *TokenSource) mustRead(t *testing.T) string {
	t.Helper()
	token, err := s.token(t.Context(), need{old: true})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestACallerMayLeave(t *testing.T) {
	f := newFakeCursor(t)
	arrived, release := f.holdCalls()
	store := storeOf(f.login(time.Minute))
	s := NewTokenSource(f.config(t, store))
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := s.Token(ctx)
		left <- err
	}()
	<-arrived
	cancel()
	wantCode(t, <-left, chat.Canceled, "")
	release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if c, _ := store.stored(t); c.refresh != f.refresh {
		t.Error("the tokens of the renewal were lost")
	}
	_, err := s.Token(t.Context())
	wantCode(t, err, chat.ShuttingDown, "")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseDoesNotWaitForADeadServer(t *testing.T) {
	f := newFakeCursor(t)
	arrived, release := f.holdCalls()
	s := NewTokenSource(f.config(t, storeOf(f.login(time.Minute))))
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = s.Token(t.Context())
	}()
	<-arrived
	start := time.Now()
	s.Close()
	if took := time.Since(start); took > 2*closeGrace {
		t.Errorf("Close took %v", took)
	}
	<-left
	release()
}
