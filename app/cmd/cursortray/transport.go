package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"

	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/agentrpc"
)

// newTransports returns the transports of the program, for calls and for runs:
// HTTP/2, the proxy of HTTPS_PROXY and NO_PROXY, and the certificates of the
// system. Go reads SSL_CERT_FILE on some systems only; users behind a company
// proxy need it on all of them.
func newTransports(certFile string) (calls, runs *lateTransport) {
	base := sync.OnceValues(func() (*http.Transport, error) {
		transport, ok := http.DefaultTransport.(*http.Transport)
		if !ok {
			return nil, errors.New("the HTTP transport is not Go's own")
		}
		transport = transport.Clone()
		transport.Proxy, transport.OnProxyConnectResponse = proxyOf, proxyAnswer
		if certFile == "" {
			return transport, nil
		}
		roots, err := rootsWith(certFile)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
		return transport, err
	})
	return newLate(base), newLate(func() (*agentrpc.Transport, error) {
		transport, err := base()
		if err != nil {
			return nil, err
		}
		return agentrpc.NewTransport(transport), nil
	})
}

// lateTransport is made at its first call: reading certificates takes longer
// than all the rest of a start, and many starts call nobody.
type lateTransport struct {
	get  func() (connections, error)
	made atomic.Pointer[connections]
}

type connections interface {
	http.RoundTripper
	CloseIdleConnections()
}

func newLate[C connections](transport func() (C, error)) *lateTransport {
	t := &lateTransport{}
	t.get = sync.OnceValues(func() (connections, error) {
		made, err := transport()
		if err != nil {
			return nil, err
		}
		var kept connections = made
		t.made.Store(&kept)
		return kept, nil
	})
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *lateTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	transport, err := t.get()
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	return transport.RoundTrip(req)
}

// CloseIdleConnections is what http.Client calls of its transport.
func (t *lateTransport) CloseIdleConnections() {
	if transport := t.made.Load(); transport != nil {
		(*transport).CloseIdleConnections()
	}
}

// proxyOf is Go's own choice of the proxy. The text of its error has the
// address in it, perhaps with a password.
func proxyOf(req *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(req)
	if err != nil {
		return nil, &cursor.VariableError{Name: "HTTPS_PROXY", Err: errors.New("it is not the address of a proxy, such as http://proxy.example:3128")}
	}
	return proxy, nil
}

// proxyAnswer tells a refusal of the proxy from one of Cursor.
func proxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &cursor.VariableError{Name: "HTTPS_PROXY", Err: fmt.Errorf("the proxy refuses with HTTP status %d", answer.StatusCode)}
}

// rootsWith returns the system's certificates and those in the file.
func rootsWith(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, &cursor.VariableError{Name: "SSL_CERT_FILE", Err: err}
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, &cursor.VariableError{Name: "SSL_CERT_FILE", Err: errors.New("there is no certificate in the file")}
	}
	return roots, nil
}
