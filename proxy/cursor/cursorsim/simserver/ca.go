package simserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"
)

// years bounds all certificates. They are valid far into the past, so that a
// program with a wrong clock fails at what is being tested and not before.
const years = 2 * 365 * 24 * time.Hour

// authority is a certificate authority with one key for all its servers.
type authority struct {
	pem  []byte
	pool *x509.CertPool
	pin  string

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *ecdsa.PrivateKey
	from time.Time
}

func newAuthority(now time.Time) (*authority, error) {
	a := &authority{pool: x509.NewCertPool(), from: now.Add(-years)}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if a.leaf, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	template := a.template("Simulated Cursor, for tests only")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.pool.AddCert(a.cert)
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	spki, err := x509.MarshalPKIXPublicKey(&a.leaf.PublicKey)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(spki)
	a.pin = base64.StdEncoding.EncodeToString(sum[:])
	return a, nil
}

func (a *authority) template(name string) *x509.Certificate {
	serial := make([]byte, 16)
	_, _ = rand.Read(serial) // never fails
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: a.from, NotAfter: a.from.Add(2 * years),
	}
}

// config is that of a server which has a certificate for every served host
// name and for no other.
func (a *authority) config(hosts map[string]hostKind) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if _, known := lookUpHost(hosts, hello.ServerName); !known {
				return nil, fmt.Errorf("no certificate for %q", hello.ServerName)
			}
			return a.issue(hello.ServerName)
		},
	}
}

func (a *authority) issue(host string) (*tls.Certificate, error) {
	template := a.template(host)
	template.DNSNames = []string{host}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.leaf.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: a.leaf}, nil
}

// hostKind says which routes a host name serves.
type hostKind int

const (
	webHost   hostKind = 1 << iota // cursor.com: the login page and the dashboard
	apiHost                        // api2.cursor.sh
	agentHost                      // where runs happen, as GetServerConfig names it
)

func hostTable(more []string) map[string]hostKind {
	hosts := map[string]hostKind{
		"cursor.com": webHost, "www.cursor.com": webHost,
		"api2.cursor.sh": apiHost,
		// Known values of GetServerConfig in 2026.
		"agentn.us.api5.cursor.sh":     agentHost,
		"agentn.eu.api5.cursor.sh":     agentHost,
		"agentn.global.api5.cursor.sh": agentHost,
		"agent.api5.cursor.sh":         agentHost,
	}
	for _, host := range more {
		hosts[strings.ToLower(host)] = webHost | apiHost | agentHost
	}
	return hosts
}

// lookUpHost takes a host name with or without a port.
func lookUpHost(hosts map[string]hostKind, name string) (hostKind, bool) {
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	kind, known := hosts[strings.ToLower(name)]
	return kind, known
}
