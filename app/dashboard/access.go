package dashboard

import (
	"net"
	"net/http"
	"strings"
)

// policy lets a page load what this server has and nothing else. Pictures in
// data: are those that the plot library draws.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	// Nothing goes to other sites. With no-referrer browsers would also leave
	// the origin out of forms, which this server looks at.
	h.Set("Referrer-Policy", "same-origin")
}

// cookieName holds the port: a cookie belongs to a host, and another cursortray
// on another port must not replace it.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "cursortray-" + port
}

// enter exchanges the token of a link for a cookie. Browsers that fetch pages
// ahead of time must not use it up.
func (d *Dashboard) enter(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Referrer-Policy", "no-referrer") // the address holds the token
	purpose := r.Header.Get("Sec-Purpose") + r.Header.Get("Purpose")
	if strings.Contains(purpose, "prefetch") || r.Method != http.MethodGet {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	p := d.page(r.URL.Query().Get("page"))
	if p == nil {
		p = d.pages[0]
	}
	cookie, ok := d.doors.open(r.URL.Query().Get("token"))
	switch {
	case ok:
		http.SetCookie(w, &http.Cookie{
			Name: cookieName(r), Value: cookie, Path: Root, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
	case d.session(r) == nil: // who is in already only wants the page
		d.refuse(w, "This link was used before or is older than a minute.")
		return
	}
	http.Redirect(w, r, p.path(), http.StatusSeeOther)
}

func (d *Dashboard) session(r *http.Request) *session {
	for _, cookie := range r.CookiesNamed(cookieName(r)) {
		if s := d.doors.session(cookie.Value); s != nil {
			return s
		}
	}
	return nil
}

// handler serves a request of a session.
type handler func(http.ResponseWriter, *http.Request, *session)

// known lets those in who have the cookie.
func (d *Dashboard) known(next handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := d.session(r)
		if s == nil {
			d.refuse(w, "This browser has not been let in yet.")
			return
		}
		next(w, r, s)
	})
}

// maxForm is far above what a form of ours sends.
const maxForm = 64 << 10

// trusted lets requests through that one of our own forms made.
func (d *Dashboard) trusted(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request, s *session) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if r.Header.Get("Origin") != "http://"+r.Host || !s.knows(r.PostFormValue("csrf")) {
			http.Error(w, "This form is not one of this page. Reload the page and try again.", http.StatusForbidden)
			return
		}
		next(w, r, s)
	}
}

// refuse shows how to come in.
func (d *Dashboard) refuse(w http.ResponseWriter, why string) {
	d.looks.write(w, http.StatusUnauthorized, "closed", struct{ Why string }{why})
}

// ping tells a page whose stream has ended why: no answer, 401, or 204.
func (d *Dashboard) ping(w http.ResponseWriter, r *http.Request) {
	if d.session(r) == nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
