package cursor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
)

// scripted answers polls without a network, so that time can be faked.
type scripted struct {
	t       *testing.T
	answers []answer // the last one again and again
	polls   int
}

type answer struct {
	status int
	header string // "Name: value"
	body   string
	err    error
}

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	a := s.answers[min(s.polls, len(s.answers)-1)]
	s.polls++
	if q := req.URL.Query(); len(q.Get("uuid")) != 36 || len(q.Get("verifier")) != 43 || req.URL.Path != "/auth/poll" {
		s.t.Errorf("poll of %s", req.URL.Path)
	}
	if a.err != nil {
		return nil, a.err
	}
	h := http.Header{}
	if name, value, found := strings.Cut(a.header, ": "); found {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), Request: req}, nil
}

func TestLoginWaits(t *testing.T) {
	const tokens = `{"accessToken":"a","refreshToken":"r","more":1}`
	pending, ok, fault := answer{status: 404}, answer{status: 200, body: tokens}, answer{status: 503}
	offline := answer{err: &net.OpError{Op: "dial", Err: errors.New("no route to host")}}
	repeat := func(n int, a answer) []answer {
		all := make([]answer, n)
		for i := range all {
			all[i] = a
		}
		return all
	}
	seq := func(a ...answer) []answer { return a }
	const first, second, third = time.Second, 1200 * time.Millisecond, 1440 * time.Millisecond
	tests := []struct {
		name    string
		answers []answer
		polls   int
		took    time.Duration // 0 is not checked
		kind    chat.Kind
		code    string // "" is success
	}{
		{"confirmed at once", seq(ok), 1, first, 0, ""},
		{"confirmed later", seq(pending, pending, ok), 3, first + second + third, 0, ""},
		{"two faults", seq(fault, offline, ok), 3, first + second + third, 0, ""},
		{"faults between answers", seq(fault, fault, pending, fault, fault, ok), 6, 0, 0, ""},
		{"too many polls", seq(answer{status: 429}, answer{status: 429}, answer{status: 429}, answer{status: 429}, ok), 5, 0, 0, ""},
		{"asked to wait", seq(answer{status: 429, header: "Retry-After: 30"}, ok), 2, first + 30*time.Second, 0, ""},
		{"asked to wait for ever", seq(answer{status: 429, header: "Retry-After: 9999"}, ok), 2, first + time.Minute, 0, ""},
		{"refused", seq(pending, answer{status: 403}), 2, 0, chat.LoginRequired, CodeLoginDenied},
		{"refused with 400", seq(answer{status: 400}), 1, 0, chat.LoginRequired, CodeLoginDenied},
		{"refused with 401", seq(answer{status: 401}), 1, 0, chat.LoginRequired, CodeLoginDenied},
		{"gone", seq(pending, answer{status: 410}), 2, 0, chat.LoginRequired, CodeLoginExpired},
		{"a hotel's page", seq(answer{status: 403, header: "Content-Type: text/html", body: "<html>"}), 3, 0, chat.BadGateway, CodeServer},
		{"a page in place of not yet", seq(answer{status: 404, header: "Content-Type: text/html", body: "<html>"}), 3, 0, chat.BadGateway, CodeServer},
		{"never confirmed", seq(pending), maxPolls, 0, chat.LoginRequired, CodeLoginExpired},
		{"offline", repeat(3, offline), 3, 0, chat.BadGateway, CodeOffline},
		{"server down", repeat(3, fault), 3, 0, chat.BadGateway, CodeServer},
		{"no tokens", seq(answer{status: 200, body: `{}`}), 3, 0, chat.BadGateway, CodeServer},
		{"half of the tokens", seq(answer{status: 200, body: `{"accessToken":"a"}`}), 3, 0, chat.BadGateway, CodeServer},
		{"a page", seq(answer{status: 200, body: `<html>`}), 3, 0, chat.BadGateway, CodeServer},
		{"sent elsewhere", seq(answer{status: 302, header: "Location: https://evil.example"}), 3, 0, chat.BadGateway, CodeServer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &scripted{t: t, answers: tt.answers}
				start := time.Now()
				c, err := StartLogin(Config{Client: &http.Client{Transport: server}}).Wait(t.Context())
				took := time.Since(start)
				switch {
				case tt.code != "":
					wantCode(t, err, tt.kind, tt.code)
				case err != nil || c.access != "a" || c.refresh != "r":
					t.Errorf("%v, %v", c, err)
				}
				if server.polls != tt.polls || tt.took != 0 && took != tt.took {
					t.Errorf("%d polls in %v, want %d in %v", server.polls, took, tt.polls, tt.took)
				}
				if took > 25*time.Minute {
					t.Errorf("gave up after %v", took)
				}
			})
		})
	}
}

func TestLoginIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 90*time.Second, nil)
		defer cancel()
		time.AfterFunc(90*time.Second-time.Millisecond, cancel)
		start := time.Now()
		client := &http.Client{Transport: &scripted{t: t, answers: []answer{{status: 404}}}}
		_, err := StartLogin(Config{Client: client}).Wait(ctx)
		wantCode(t, err, chat.Canceled, "")
		if took := time.Since(start); took != 90*time.Second-time.Millisecond {
			t.Errorf("it ended after %v", took)
		}
	})
}

func TestLoginURL(t *testing.T) {
	l := StartLogin(Config{Client: http.DefaultClient})
	u, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Scheme+"://"+u.Host+u.Path != "https://cursor.com/loginDeepControl" || len(q) != 4 ||
		q.Get("mode") != "login" || q.Get("redirectTarget") != "cli" || q.Get("uuid") != l.uuid || q.Get("challenge") != challengeOf(l.verifier) {
		t.Errorf("URL: %s", l.URL)
	}
	if strings.Contains(l.URL, l.verifier) {
		t.Error("the URL has the verifier in it")
	}
	if other := StartLogin(Config{Client: http.DefaultClient}); other.uuid == l.uuid || other.verifier == l.verifier {
		t.Error("two attempts share a secret")
	}
}

func TestLoginWithAServer(t *testing.T) {
	f := newFakeCursor(t)
	f.polls = 1
	cfg := f.config(t, &memStore{})
	c, err := StartLogin(cfg).Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, cfg)
	if err := s.SignIn(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if token, err := s.Token(t.Context()); err != nil || !f.valid[token] {
		t.Errorf("Token: %v", err)
	}
	f.wantCalls(t, "/auth/poll", 2)
}

// serveWith serves 404 with a certificate of the given life.
func serveWith(t *testing.T, from, to time.Time) (base string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1)) // fails when the client refuses the certificate
			conn.Close()
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	roots = x509.NewCertPool()
	roots.AddCert(cert)
	return "https://" + ln.Addr().String(), roots
}

func TestCallErrorsTellTheCause(t *testing.T) {
	day := 24 * time.Hour
	now := time.Now()
	expired, expiredRoots := serveWith(t, now.Add(-2*day), now.Add(-day))
	early, earlyRoots := serveWith(t, now.Add(day), now.Add(2*day))
	good, _ := serveWith(t, now.Add(-day), now.Add(day))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	tests := []struct {
		name, base string
		roots      *x509.CertPool
		code       string
		proxy      func(*http.Request) (*url.URL, error)
		says       string
	}{
		{"clock ahead", expired, expiredRoots, CodeClock, nil, "date and time"},
		{"clock behind", early, earlyRoots, CodeClock, nil, "date and time"},
		{"company proxy", good, x509.NewCertPool(), CodeCertificate, nil, "SSL_CERT_FILE"},
		{"nobody there", "https://" + ln.Addr().String(), nil, CodeOffline, nil, "network"},
		{"proxy that is off", good, nil, CodeEnvironment, http.ProxyURL(&url.URL{Scheme: "http", Host: ln.Addr().String(), User: url.UserPassword("ada", "pass-secret")}), "HTTPS_PROXY"},
		{"variable", good, nil, CodeEnvironment, func(*http.Request) (*url.URL, error) {
			return nil, &VariableError{"NO_SUCH", errors.New("is wrong")}
		}, "NO_SUCH: is wrong"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hosts, err := ParseHosts(tt.base, "")
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: tt.roots}, Proxy: tt.proxy}
			defer transport.CloseIdleConnections()
			l := StartLogin(Config{Client: &http.Client{Transport: transport}, Hosts: hosts})
			_, err = l.auth.poll(t.Context(), l.uuid, l.verifier)
			e := callError(err)
			wantCode(t, e, chat.BadGateway, tt.code)
			if !strings.Contains(e.Message, tt.says) || strings.Contains(e.Message, "pass-secret") {
				t.Errorf("it says %q", e.Message)
			}
			for text := error(e); text != nil; text = errors.Unwrap(text) {
				if strings.Contains(text.Error(), l.verifier) {
					t.Errorf("the error has the verifier in it: %v", text)
				}
			}
		})
	}
}

func TestLoginWithKey(t *testing.T) {
	tests := []struct {
		name, text string
		fault      func(http.ResponseWriter)
		kind       chat.Kind
		code       string // "" is success
	}{
		{"key", "crsr_secret", nil, 0, ""},
		{"wrong key", "crsr_other", nil, chat.LoginRequired, CodeLoginDenied},
		{"no key", "sk-secret", nil, chat.Invalid, CodeKey},
		{"token that ran out", makeJWT(`{"exp":1000000000}`), nil, chat.LoginRequired, CodeLoginExpired},
		{"server down", "crsr_secret", status(503), chat.BadGateway, CodeServer},
		{"throttled", "crsr_secret", status(429), chat.RateLimited, CodeServer},
		{"a hotel's page", "crsr_secret", page(403), chat.BadGateway, CodeServer},
		{"a page", "crsr_secret", page(200), chat.BadGateway, CodeServer},
		{"cut", "crsr_secret", cutBody, chat.BadGateway, CodeOffline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFakeCursor(t)
			f.faults["/auth/exchange_user_api_key"] = tt.fault
			c, err := LoginWithKey(t.Context(), f.config(t, nil), tt.text)
			if tt.code != "" {
				wantCode(t, err, tt.kind, tt.code)
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("the error has a secret in it: %v", err)
				}
				return
			}
			if err != nil || !f.valid[c.access] || c.apiKey != tt.text || c.refresh != "" {
				t.Errorf("%v, %v", c, err)
			}
		})
	}
	f := newFakeCursor(t)
	token := f.access(time.Hour)
	if c, err := LoginWithKey(t.Context(), f.config(t, nil), "user_1::"+token); err != nil || c.access != token || c.renewable() {
		t.Errorf("a pasted access token: %v, %v", c, err)
	}
	if c, err := LoginWithKey(t.Context(), f.config(t, nil), makeJWT(`{"sub":"auth0|user_1"}`)); err != nil || c.access == "" {
		t.Errorf("an access token that does not tell its end: %v", err)
	}
	f.wantCalls(t, "/auth/exchange_user_api_key", 0)
}
