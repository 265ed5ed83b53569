//go:build unix && !darwin

package main

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/app/control"
)

// withBrowser gives the machine a screen, and a browser that notes what it is
// to show.
func (m *machine) withBrowser() (shown func() []string) {
	m.t.Helper()
	log := filepath.Join(m.home, "shown")
	script := "#!/bin/sh\necho \"$1\" >> '" + log + "'\n"
	if err := os.WriteFile(filepath.Join(m.home, "bin", "xdg-open"), []byte(script), 0o700); err != nil {
		m.t.Fatal(err)
	}
	m.env = append(m.env, "DISPLAY=:99")
	return func() []string {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			m.t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
}

// visit opens a link as a browser does and returns the page that it shows.
func visit(t *testing.T, link string) (status int, path string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}).Get(link)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode, resp.Request.URL.Path
}

func TestOpenPrintsALinkWhereThereIsNoScreen(t *testing.T) {
	m := newMachine(t)
	if r := m.run("open"); r.code != 1 || !strings.Contains(r.stderr, control.ErrNotRunning.Error()) {
		t.Errorf("without an instance: code %d, %s", r.code, r.stderr)
	}
	s := m.serve("serve", "--demo")
	link := strings.TrimSpace(m.must("open", "models"))
	if !strings.HasPrefix(link, s.url+"/dashboard/open?page=models&token=") {
		t.Fatalf("it prints %q", link)
	}
	if status, path := visit(t, link); status != 200 || path != "/dashboard/models" {
		t.Errorf("the link shows %s with status %d", path, status)
	}
	if status, _ := visit(t, link); status != 401 {
		t.Errorf("the second time it has status %d", status)
	}
	if r := m.run("open", "nonsense"); r.code != 1 || !strings.Contains(r.stderr, "no page of that name") {
		t.Errorf("a wrong page: code %d, %s", r.code, r.stderr)
	}
	m.must("stop")
	if r := m.run("open"); r.code != 1 || !strings.Contains(r.stderr, "start the proxy first") {
		t.Errorf("without a port: code %d, %s", r.code, r.stderr)
	}
	if _, token, _ := strings.Cut(link, "token="); strings.Contains(s.stderr.String(), token) {
		t.Error("the log holds a link")
	}
	s.stop()
}

func TestTheFirstStartShowsHowToBegin(t *testing.T) {
	m := newMachine(t)
	shown := m.withBrowser()
	s := m.serve("--autostart")
	s.stop()
	if pages := shown(); len(pages) > 0 {
		t.Fatalf("a start at login shows %q", pages)
	}
	s = m.serve()
	until(t, "a page is shown", func() bool { return len(shown()) > 0 })
	if status, path := visit(t, shown()[0]); status != 200 || path != "/dashboard/start" {
		t.Errorf("it shows %s with status %d", path, status)
	}
	s.stop()
	s = m.serve()
	m.must("status")
	s.stop()
	if pages := shown(); len(pages) != 1 {
		t.Errorf("the second start shows %q", pages[1:])
	}
}

func TestTD3_ASecondStartShowsTheFirst(t *testing.T) {
	m := newMachine(t)
	shown := m.withBrowser()
	s := m.serve("--demo")
	if r := m.run("--autostart"); r.code != 0 || len(shown()) > 0 {
		t.Errorf("a second start at login: code %d, shown %q", r.code, shown())
	}
	r := m.run()
	if r.code != 0 || !strings.Contains(r.stdout, "already running") {
		t.Errorf("code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	pages := shown()
	if len(pages) != 1 {
		t.Fatalf("it shows %q", pages)
	}
	if status, path := visit(t, pages[0]); status != 200 || path != "/dashboard/overview" {
		t.Errorf("it shows %s with status %d", path, status)
	}
	if out := m.must("open", "spend"); out != "" || len(shown()) != 2 {
		t.Errorf("open prints %q and shows %q", out, shown())
	}
	if out := m.must("open", "--no-browser"); !strings.HasPrefix(out, s.url) || len(shown()) != 2 {
		t.Errorf("open --no-browser prints %q and shows %q", out, shown())
	}
	s.stop()
}

func TestTheReportNamesNobody(t *testing.T) {
	m := newMachine(t)
	p := &process{env: func(name string) string {
		return map[string]string{"HOME": m.home, "CURSORTRAY_API_KEY": testKey}[name]
	}}
	p.stderr = newRedactor(&buffer{}, p.env)
	text := p.withoutPeople("log in as ada@example.com; " + m.home + "/.config/x; key " + testKey + "; http://bob:secret@proxy.example:3128")
	for _, secret := range []string{"ada@", m.home, testKey, "bob", "secret@"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in %q", secret, text)
		}
	}
	for _, kept := range []string{"~/.config/x", "proxy.example:3128"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is not in %q", kept, text)
		}
	}
}
