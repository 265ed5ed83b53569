package cursor

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSE2_NoSecretInLogsAndErrors runs log-in, renewal, calls and every kind
// of failure, and looks at all that is written about them.
func TestSE2_NoSecretInLogsAndErrors(t *testing.T) {
	var out bytes.Buffer
	note := func(err error) {
		for ; err != nil; err = errors.Unwrap(err) {
			fmt.Fprintf(&out, "%v %+v %#v\n", err, err, err)
		}
	}
	faults := []func(http.ResponseWriter){nil, status(401), status(503), status(429), page(403), page(200), cutBody}
	var verifiers []string
	for _, fault := range faults {
		f := newFakeCursor(t)
		for _, path := range []string{"/auth/poll", exchangePath, "/call"} {
			f.faults[path] = fault
		}
		for _, errSet := range []error{nil, errors.New("no keychain")} {
			cfg := f.config(t, nil)
			cfg.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			l := StartLogin(cfg)
			verifiers = append(verifiers, l.verifier)
			_, err := l.auth.poll(t.Context(), l.uuid, l.verifier)
			note(err)
			note(callError(err))
			c, err := LoginWithKey(t.Context(), cfg, "crsr_secret")
			note(err)
			store := storeOf(f.login(time.Minute))
			store.setErr = errSet
			cfg.Store = store
			s := newSource(t, cfg)
			_, err = s.Token(t.Context())
			note(err)
			resp, err := newClient(f, cfg, s).Post(f.URL+"/call", "text/plain", strings.NewReader("prompt-secret"))
			note(err)
			if err == nil {
				resp.Body.Close()
			}
			_, err = s.Renew(t.Context(), s.inMemory())
			note(err)
			note(s.SignIn(t.Context(), c))
			note(s.SignOut(t.Context()))
			fmt.Fprintf(&out, "%v %+v\n", c, c)
		}
	}
	for _, secret := range append(verifiers, "secret", "eyJ", "crsr_s") {
		if i := strings.Index(out.String(), secret); i >= 0 {
			t.Errorf("found %q in ...%s", secret, out.String()[max(0, i-200):min(i+100, out.Len())])
		}
	}
	if !strings.Contains(out.String(), "could not be saved") {
		t.Error("nothing was logged; this test looks at nothing")
	}
}

// inMemory returns the access token in use, or another.
func (s *TokenSource) inMemory() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.creds == nil {
		return "none"
	}
	return s.creds.access
}
