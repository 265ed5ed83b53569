package proxy

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard decides whether a request may come from where it says it comes from.
// It keeps web pages away, which reach 127.0.0.1 either by a cross-origin
// request or by a name of their own that they let resolve to it.
type guard struct {
	hosts   map[string]bool
	origins []string // exact, lower case
	schemes []string // allowed with any host, as "scheme://"
}

func newGuard(hosts, origins []string, log *slog.Logger) guard {
	g := guard{hosts: map[string]bool{"127.0.0.1": true, "localhost": true, "[::1]": true}}
	for _, host := range hosts {
		if host != "" {
			g.hosts[strings.ToLower(host)] = true
		}
	}
	for _, pattern := range origins {
		pattern = strings.ToLower(pattern)
		scheme, rest, found := strings.Cut(pattern, "://")
		switch {
		case !found || scheme == "" || strings.Contains(scheme, "*"),
			strings.Contains(rest, "*") && rest != "*",
			rest == "*" && (scheme == "http" || scheme == "https"): // that is every web page
			log.Warn("an allowed origin is neither exact nor of the form scheme://*, and stays refused", "origin", pattern)
		case rest == "*":
			g.schemes = append(g.schemes, scheme+"://")
		default:
			g.origins = append(g.origins, pattern)
		}
	}
	return g
}

// hostAllowed compares the Host header as a whole name.
func (g guard) hostAllowed(host string) bool {
	return g.hosts[strings.ToLower(withoutPort(host))]
}

// withoutPort strips a port. It returns "" for what is not a host with an
// optional port.
func withoutPort(host string) string {
	name, port := host, ""
	if end := strings.LastIndexByte(host, ']'); strings.HasPrefix(host, "[") && end > 0 {
		name, port = host[:end+1], host[end+1:]
	} else if i := strings.IndexByte(host, ':'); i >= 0 {
		name, port = host[:i], host[i:]
	}
	if port == "" {
		return name
	}
	for _, c := range port[1:] {
		if c < '0' || c > '9' {
			return ""
		}
	}
	if port[0] != ':' {
		return ""
	}
	return name
}

// originAllowed compares an Origin header. "null" is what sandboxed pages
// send, so it has no scheme to allow.
func (g guard) originAllowed(origin string) bool {
	origin = strings.ToLower(origin)
	for _, exact := range g.origins {
		if origin == exact {
			return true
		}
	}
	for _, scheme := range g.schemes {
		if strings.HasPrefix(origin, scheme) {
			return true
		}
	}
	return false
}

// hostIsOwn tells whether the Host header is the very address that the
// connection came in on. A name that resolves to it is another matter, and the
// only one that a page can bring about.
func hostIsOwn(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	own, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	named, err := netip.ParseAddr(strings.Trim(withoutPort(r.Host), "[]"))
	return err == nil && named == own.Addr().Unmap()
}

// check returns why a request is refused, "" if it is not. The code is for the
// client, the message for its user.
func (g guard) check(r *http.Request) (code, message string) {
	if !g.hostAllowed(r.Host) && !hostIsOwn(r) {
		return "forbidden_host", "this Host is not allowed; use 127.0.0.1 or localhost, or add the name to the setting allowed_hosts"
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		if len(origins) > 1 || !g.originAllowed(origins[0]) {
			return "forbidden_origin", "web pages may not call this proxy; the setting allowed_origins lists exceptions"
		}
		// A page that the user allowed is cross-site by nature.
		return "", ""
	}
	// Browsers send this header, and pages cannot change it. Other fetch
	// metadata says nothing: Node's fetch sends Sec-Fetch-Mode: cors.
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return "forbidden_site", "web pages may not call this proxy"
		}
	}
	return "", ""
}

// guarded turns away what must not reach any route, before a key or a body is
// looked at.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check := s.guard.check
		if s.isPage(r) {
			check = s.guard.checkPage
		}
		if code, message := check(r); code != "" {
			refuse(w, r, http.StatusForbidden, code, message)
			return
		}
		if s.stopping.Load() {
			w.Header().Set("Connection", "close")
			fail(w, r, errShuttingDown())
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !s.isPage(r) { // an allowed one
			allowOrigin(w.Header(), origin, r)
		}
		next.ServeHTTP(w, r)
	})
}

// allowOrigin lets the browser hand the answer to a page that the user allowed.
func allowOrigin(h http.Header, origin string, r *http.Request) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	if r.Method != http.MethodOptions {
		return
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	h.Set("Access-Control-Max-Age", "600")
	if headers := r.Header.Get("Access-Control-Request-Headers"); headers != "" {
		h.Set("Access-Control-Allow-Headers", headers)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}
