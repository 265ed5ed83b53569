package proxy

import (
	"context"
	"net/http"
	"strings"
)

// pagesRoute is where Config.Pages is served.
const pagesRoute = "/dashboard/"

func (s *Server) isPage(r *http.Request) bool {
	return s.cfg.Pages != nil && strings.HasPrefix(r.URL.Path, pagesRoute)
}

// checkPage is check for the pages of this server itself: the browser shows
// them, so it names their origin, and no other may call them, whatever
// allowed_origins says.
func (g guard) checkPage(r *http.Request) (code, message string) {
	own := "http://" + strings.ToLower(r.Host)
	if origins := r.Header.Values("Origin"); len(origins) == 1 && strings.ToLower(origins[0]) == own {
		r = r.Clone(r.Context())
		r.Header.Del("Origin")
	} else if len(origins) > 0 {
		return "forbidden_origin", "other web pages may not call this one"
	}
	return g.check(r)
}

type pagesKey struct{}

// withPages adds what pages need to know to the context of all requests: when
// to end. A page may stay open for days, so the end of the server does not wait
// for its stream of news as it does for answers.
func withPages(requests context.Context) (context.Context, context.CancelFunc) {
	pages, end := context.WithCancel(requests)
	return context.WithValue(requests, pagesKey{}, pages), end
}

// pages serves Config.Pages.
func (s *Server) pages(w http.ResponseWriter, r *http.Request) {
	recordOf(r).route = pagesRoute
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if life, ok := ctx.Value(pagesKey{}).(context.Context); ok {
		defer context.AfterFunc(life, cancel)()
	}
	s.cfg.Pages.ServeHTTP(w, r.WithContext(ctx))
}
