package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestALinkOpensOnceAndForAMinute(t *testing.T) {
	r := newRig(t)
	link, err := r.Link("models")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.get(link); got.status != 200 || got.path != Root+"models" || !strings.Contains(got.body, "GPT Large") {
		t.Fatalf("the link leads to %s with status %d", got.path, got.status)
	}
	if got := r.get(Root); got.status != 200 || !strings.Contains(got.body, "<h1>Overview</h1>") {
		t.Errorf("the next page has status %d", got.status)
	}
	if got := r.get(link); got.status != 200 || got.path != Root+"models" {
		t.Errorf("who is in gets status %d at %s by an old link", got.status, got.path)
	}
	r.browser = r.newBrowser()
	if got := r.get(link); got.status != 401 || !strings.Contains(got.body, "cursortray open") {
		t.Errorf("the link opens twice: status %d", got.status)
	}
	if link, err = r.Link(""); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(time.Minute)
	if got := r.get(link); got.status != 401 {
		t.Errorf("the link opens after a minute: status %d", got.status)
	}
	if link, err = r.Link(""); err != nil {
		t.Fatal(err)
	}
	r.clock.pass(time.Minute - time.Millisecond)
	if got := r.get(link); got.status != 200 {
		t.Errorf("the link does not open within a minute: status %d", got.status)
	}
}

func TestALinkIsNotUsedUpAheadOfTime(t *testing.T) {
	r := newRig(t)
	link, err := r.Link("")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*http.Request){
		func(q *http.Request) { q.Header.Set("Sec-Purpose", "prefetch;prerender") },
		func(q *http.Request) { q.Header.Set("Purpose", "prefetch") },
		func(q *http.Request) { q.Method = http.MethodHead },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.server.URL+link, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(req)
		if got := r.send(req); got.status == 200 {
			t.Errorf("%s %v: status %d", req.Method, req.Header, got.status)
		}
	}
	if got := r.get(link); got.status != 200 {
		t.Errorf("afterwards the link has status %d", got.status)
	}
}

func TestNoSuchPage(t *testing.T) {
	r := newRig(t)
	if _, err := r.Link("nonsense"); err == nil || !strings.Contains(err.Error(), "overview, ") {
		t.Errorf("error %v", err)
	}
	r.enter("")
	if got := r.get(Root + "nonsense"); got.status != 404 {
		t.Errorf("status %d", got.status)
	}
}

func TestTheCookieStaysWithThisPage(t *testing.T) {
	r := newRig(t)
	r.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	got := r.enter("")
	cookies := (&http.Response{Header: got.header}).Cookies()
	if got.status != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("status %d, cookies %v", got.status, cookies)
	}
	c := cookies[0]
	_, port, _ := strings.Cut(strings.TrimPrefix(r.server.URL, "http://"), ":")
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/dashboard/" || c.Name != "cursortray-"+port || c.MaxAge != 0 || c.Domain != "" {
		t.Errorf("the cookie is %s", c)
	}
	if len(c.Value) != 43 || strings.Contains(got.header.Get("Location"), "token") {
		t.Errorf("cookie %d bytes, on to %s", len(c.Value), got.header.Get("Location"))
	}
}

func TestWithoutTheCookieThereIsNothing(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"", "overview", "models", "events?page=overview", "data/context?n=2", "data/spend", "ping", "open", "open?token=", "open?token=x"} {
		got := r.get(Root + path)
		if got.status != 401 || strings.Contains(got.body, "ada@example.com") || strings.Contains(got.body, "gpt-large") {
			t.Errorf("%q: status %d", path, got.status)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.URL+Root+"do", strings.NewReader("action=sign-out"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", r.server.URL)
	if got := r.send(req); got.status != 401 || len(r.app.actions()) > 0 {
		t.Errorf("POST: status %d", got.status)
	}
	if got := r.get(Root + "static/page.css"); got.status != 200 {
		t.Errorf("the style of the locked page has status %d", got.status)
	}
}

func TestASessionThatNobodyUsesEnds(t *testing.T) {
	r := newRig(t)
	r.enter("")
	for range 3 {
		r.clock.pass(23 * time.Hour)
		if got := r.get(Root); got.status != 200 {
			t.Fatalf("status %d while it is in use", got.status)
		}
	}
	r.clock.pass(sessionLife + time.Second)
	if got := r.get(Root); got.status != 401 {
		t.Errorf("status %d after a day", got.status)
	}
}

func TestManyLinksAndSessionsAreNotKept(t *testing.T) {
	r := newRig(t)
	first, err := r.Link("")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * maxLinks {
		r.clock.pass(time.Millisecond)
		r.browser = r.newBrowser()
		if got := r.enter(""); got.status != 200 {
			t.Fatalf("status %d", got.status)
		}
		if _, err := r.Link(""); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.doors.links) > maxLinks || len(r.doors.sessions) > maxSessions {
		t.Errorf("%d links, %d sessions", len(r.doors.links), len(r.doors.sessions))
	}
	r.browser = r.newBrowser()
	if got := r.get(first); got.status != 401 {
		t.Errorf("the oldest link has status %d", got.status)
	}
}

func TestForeignForms(t *testing.T) {
	r := newRig(t)
	r.enter("")
	tests := map[string]func(url.Values, *http.Request){
		"no token":       func(v url.Values, _ *http.Request) { v.Del("csrf") },
		"wrong token":    func(v url.Values, _ *http.Request) { v.Set("csrf", "x") },
		"no origin":      func(_ url.Values, q *http.Request) { q.Header.Del("Origin") },
		"origin null":    func(_ url.Values, q *http.Request) { q.Header.Set("Origin", "null") },
		"another origin": func(_ url.Values, q *http.Request) { q.Header.Set("Origin", "http://evil.example") },
		"another port":   func(_ url.Values, q *http.Request) { q.Header.Set("Origin", "http://127.0.0.1:1") },
		"token in the address": func(v url.Values, q *http.Request) {
			q.URL.RawQuery = "csrf=" + v.Get("csrf")
			v.Del("csrf")
		},
		"too large": func(v url.Values, _ *http.Request) { v.Set("arg", strings.Repeat("x", maxForm)) },
	}
	for name, change := range tests {
		if got := r.press("overview", "sign-out", change); got.status != 403 || len(r.app.actions()) > 0 {
			t.Errorf("%s: status %d", name, got.status)
		}
	}
	// The token of another session is a wrong one.
	mine := r.browser
	r.browser = r.newBrowser()
	other := csrfField.FindStringSubmatch(r.enter("").body)[1]
	r.browser = mine
	if got := r.press("overview", "sign-out", func(v url.Values, _ *http.Request) { v.Set("csrf", other) }); got.status != 403 {
		t.Errorf("another session's token: status %d", got.status)
	}
	if got := r.press("overview", "sign-out", nil); got.status != 200 || len(r.app.actions()) != 1 {
		t.Errorf("the page's own form: status %d", got.status)
	}
}

func TestEveryAnswerIsSealed(t *testing.T) {
	r := newRig(t)
	check := func(path string, got answer) {
		t.Helper()
		for name, want := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Cache-Control":                "no-store",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
			}
		}
		if policy := got.header.Get("Referrer-Policy"); policy != "same-origin" && policy != "no-referrer" {
			t.Errorf("%s: Referrer-Policy is %q", path, policy)
		}
	}
	paths := []string{"", "overview", "nonsense", "a/b/c", "static/page.css", "static/none.css", "static/", "data/spend", "data/context", "ping", "open?token=x", "do"}
	for _, p := range paths {
		check(p, r.get(Root+p))
	}
	r.enter("")
	for _, p := range paths {
		check(p, r.get(Root+p))
	}
	check("do", r.press("overview", "refresh", nil))
	check("do, foreign", r.press("overview", "refresh", func(v url.Values, _ *http.Request) { v.Del("csrf") }))
}
