package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started is a command that runs; lines is what it has printed.
func started(t *testing.T, args ...string) (lines string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, append(args, "-quiet"), write, io.Discard)
		write.CloseWithError(io.EOF)
		ended <- err
	}()
	scan := bufio.NewScanner(read)
	for scan.Scan() {
		lines += scan.Text() + "\n"
		if strings.Contains(scan.Text(), "Ctrl-C") {
			return lines, func() error { cancel(); return <-ended }
		}
	}
	cancel()
	t.Fatalf("it ended: %v; it said %s", <-ended, lines)
	return "", nil
}

// The printed lines are all that a program needs.
func TestPrintedEnvironmentLeadsToIt(t *testing.T) {
	lines, stop := started(t, "-auto-confirm", "-plan", "ultra")
	env := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^export (\w+)='(.*)'$`).FindAllStringSubmatch(lines, -1) {
		env[m[1]] = m[2]
	}
	pem, err := os.ReadFile(env["SSL_CERT_FILE"])
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	proxy, err := url.Parse(env["HTTPS_PROXY"])
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api2.cursor.sh"+simserver.PathExchange, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+simserver.DefaultKey)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || !bytes.Contains(body, []byte(`"accessToken"`)) || !strings.Contains(lines, simserver.DefaultKey) {
		t.Errorf("%s, %v; printed %s", body, err, lines)
	}
	transport.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(env["SSL_CERT_FILE"]); !os.IsNotExist(err) {
		t.Errorf("the certificate is still there: %v", err)
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{{"-plan", "gold"}, {"-proxy", "0.0.0.0:0"}, {"-no-such-flag"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
