package simserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEnvironmentAloneLeadsAProgramHere(t *testing.T) {
	s := start(t, Options{})
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(target string) string {
		child := exec.CommandContext(t.Context(), exe)
		// An exception that the tests' own environment may have must not count.
		child.Env = append([]string{"NO_PROXY=*", "no_proxy=*"}, s.Env()...)
		child.Env = append(child.Env, "SIMSERVER_TEST_FETCH="+target)
		out, _ := child.CombinedOutput()
		return string(out)
	}
	if out := run(web + "/"); !strings.Contains(out, "This is the simulated Cursor") || !strings.Contains(out, "HTTP/2.0 200") {
		t.Errorf("the program got: %s", out)
	}
	if out := run("https://example.com/"); !strings.Contains(out, "error:") {
		t.Errorf("the program reached another host: %s", out)
	}
	if got := s.Refused(); !slices.Equal(got, []string{"CONNECT example.com:443"}) {
		t.Errorf("refused: %q", got)
	}
}

func TestVersionsOfTLSAndHTTP(t *testing.T) {
	s := start(t, Options{AllowedHosts: []string{"Extra.cursor.sh"}})
	for _, host := range []string{"cursor.com", "www.cursor.com", "api2.cursor.sh", "agentn.us.api5.cursor.sh", "agentn.global.api5.cursor.sh", "agent.api5.cursor.sh", "extra.cursor.sh"} {
		for _, tc := range []struct {
			version uint16
			alpn    string
		}{{tls.VersionTLS12, "h2"}, {tls.VersionTLS13, "h2"}, {tls.VersionTLS13, "http/1.1"}} {
			t.Run(fmt.Sprintf("%s %s %s", host, tls.VersionName(tc.version), tc.alpn), func(t *testing.T) {
				conn, err := tls.Dial("tcp", s.Addr(), &tls.Config{
					RootCAs: s.ca.pool, ServerName: host, MinVersion: tc.version, MaxVersion: tc.version, NextProtos: []string{tc.alpn},
				})
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if got := conn.ConnectionState(); got.Version != tc.version || got.NegotiatedProtocol != tc.alpn {
					t.Errorf("got %s, %q", tls.VersionName(got.Version), got.NegotiatedProtocol)
				}
			})
		}
	}
	for _, config := range []*tls.Config{
		{RootCAs: s.ca.pool, ServerName: "example.com"},
		{RootCAs: s.ca.pool, ServerName: "api2.cursor.sh", MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10},
		{ServerName: "api2.cursor.sh"}, // trusts only real authorities
	} {
		if conn, err := tls.Dial("tcp", s.Addr(), config); err == nil {
			conn.Close()
			t.Errorf("a handshake for %s succeeded", config.ServerName)
		}
	}
	if r := overHTTP1(t, s).do(http.MethodGet, web+"/", "", ""); r.proto != "HTTP/1.1" || r.status != http.StatusOK {
		t.Errorf("over HTTP/1.1: %s %d", r.proto, r.status)
	}
}

func TestProxyRefusesOnRecord(t *testing.T) {
	s := start(t, Options{})
	for _, tc := range []struct{ request, record string }{
		{"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "CONNECT example.com:443"},
		{"CONNECT evilcursor.sh:443 HTTP/1.1\r\nHost: evilcursor.sh:443\r\n\r\n", "CONNECT evilcursor.sh:443"},
		{"CONNECT api2.cursor.sh:80 HTTP/1.1\r\nHost: api2.cursor.sh:80\r\n\r\n", "CONNECT api2.cursor.sh:80"},
		{"GET http://api2.cursor.sh/auth/poll HTTP/1.1\r\nHost: api2.cursor.sh\r\n\r\n", "GET api2.cursor.sh"},
		{"GET / HTTP/1.1\r\nHost: " + s.addrs.proxy + "\r\n\r\n", "GET " + s.addrs.proxy},
	} {
		conn, err := net.Dial("tcp", s.addrs.proxy)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, tc.request)
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		conn.Close()
		if r.StatusCode != http.StatusForbidden || !slices.Contains(s.Refused(), tc.record) {
			t.Errorf("%q: status %d, refused %q", tc.request, r.StatusCode, s.Refused())
		}
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	for _, o := range []Options{{ProxyAddr: "0.0.0.0:0"}, {ControlAddr: ":0"}, {ProxyAddr: "nonsense"}} {
		if s, err := Start(t.Context(), o); err == nil {
			s.Close()
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestCloseEndsWhatIsOpen(t *testing.T) {
	s := start(t, Options{})
	if err := s.Inject(Fault{Kind: FaultHang, Route: "/"}); err != nil {
		t.Fatal(err)
	}
	idle, err := net.Dial("tcp", s.addrs.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	ended := make(chan error, 2)
	for _, c := range []*client{newClient(t, s), overHTTP1(t, s)} {
		go func() {
			_, err := c.try(http.MethodGet, web+"/", "", "")
			ended <- err
		}()
	}
	awaitCalls(t, s, "/", 2) // both hang now
	ca := s.CAFile()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("a hanging call got an answer")
		}
	}
	if _, err := os.Stat(ca); !os.IsNotExist(err) {
		t.Errorf("the certificate is still there: %v", err)
	}
	if _, err := net.Dial("tcp", s.addrs.proxy); err == nil {
		t.Error("the proxy still listens")
	}
}

func TestEndOfContextEndsHangingCalls(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, Options{Dir: filepath.Join(t.TempDir(), "new")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Inject(Fault{Kind: FaultHang}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := newClient(t, s).try(http.MethodGet, web+"/", "", "")
		ended <- err
	}()
	awaitCalls(t, s, "/", 1)
	cancel()
	if err := <-ended; err == nil {
		t.Error("a hanging call got an answer")
	}
	s.Close()
	if _, err := os.Stat(s.CAFile()); err != nil {
		t.Errorf("the certificate in a folder of the caller's: %v", err)
	}
}

// A client that does not wait for the tunnel is no TLS client.
func TestProxyRefusesEarlyData(t *testing.T) {
	s := start(t, Options{})
	conn, err := net.Dial("tcp", s.addrs.proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "CONNECT api2.cursor.sh:443 HTTP/1.1\r\nHost: api2.cursor.sh:443\r\n\r\nearly")
	if n, _ := conn.Read(make([]byte, 1)); n != 0 || !slices.Equal(s.Refused(), []string{"early data for api2.cursor.sh:443"}) {
		t.Errorf("read %d bytes, refused %q", n, s.Refused())
	}
}
