package proxy

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"cursortray/proxy/chat"
)

// prefixes are where each route of the API is served: users leave /v1 out, or
// add it where their client adds it too. An alias is served, not redirected: a
// redirected POST loses its body or its key in some clients.
var prefixes = []string{"/v1", "", "/v1/v1"}

// route is one path: what each method does there, and who may call it.
type route struct {
	server  *Server
	name    string // for the log, the same for all aliases
	methods map[string]http.HandlerFunc
	access  access
}

// access says what a route asks for before its handler runs.
type access int

const (
	open    access = iota // no key, because it tells nothing
	keyed                 // the key
	counted               // the key, a slot for counting, and a JSON body within the limits
	model                 // the key, a slot, and a JSON body within the limits
)

func (s *Server) routes() http.Handler {
	// Paths are matched as they are: mux would redirect those it can shorten.
	router := mux.NewRouter().SkipClean(true)
	add := func(path, name string, access access, method string, handler http.HandlerFunc) {
		router.Handle(path, &route{server: s, name: name, access: access, methods: map[string]http.HandlerFunc{method: handler}})
	}
	for _, prefix := range prefixes {
		add(prefix+"/chat/completions", "/v1/chat/completions", model, http.MethodPost, s.chat.ChatCompletions)
		router.Handle(prefix+"/responses", http.HandlerFunc(refuseUpgrade)).HeadersRegexp("Upgrade", "(?i)websocket")
		add(prefix+"/responses", "/v1/responses", model, http.MethodPost, s.chat.Responses)
		add(prefix+"/messages", "/v1/messages", model, http.MethodPost, s.messages.Messages)
		add(prefix+"/messages/count_tokens", "/v1/messages/count_tokens", counted, http.MethodPost, s.messages.CountTokens)
		add(prefix+"/models", "/v1/models", keyed, http.MethodGet, s.models.List)
		// Ids may hold slashes, so the id is the rest of the path.
		add(prefix+"/models/{id:.+}", "/v1/models/{id}", keyed, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
			s.models.One(w, r, mux.Vars(r)["id"])
		})
	}
	add("/", "/", open, http.MethodGet, up)
	add("/health", "/health", open, http.MethodGet, s.health)
	// Claude Code asks this at its start, without a key.
	add("/api/hello", "/api/hello", open, http.MethodHead, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	if s.cfg.Pages != nil {
		router.PathPrefix(pagesRoute).HandlerFunc(s.pages)
		router.Handle(strings.TrimSuffix(pagesRoute, "/"), http.RedirectHandler(pagesRoute, http.StatusPermanentRedirect))
	}
	router.NotFoundHandler = http.HandlerFunc(notFound)
	return router
}

func (rt *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recordOf(r).route = rt.name
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", rt.allow())
		w.WriteHeader(http.StatusNoContent)
		return
	}
	handler := rt.methods[r.Method]
	if handler == nil && r.Method == http.MethodHead {
		handler = rt.methods[http.MethodGet] // the server drops the body
	}
	if handler == nil {
		w.Header().Set("Allow", rt.allow())
		refuse(w, r, http.StatusMethodNotAllowed, "method_not_allowed", r.URL.Path+" does not take "+r.Method+", only "+rt.allow())
		return
	}
	if rt.access != open {
		var ok bool
		if r, ok = rt.server.authorized(w, r); !ok {
			return
		}
	}
	switch rt.access {
	case model:
		rt.server.withBody(&rt.server.slots, w, r, handler)
	case counted:
		rt.server.withBody(&rt.server.counts, w, r, handler)
	default:
		handler(w, r)
	}
}

// allow lists the methods of the route for the Allow header.
func (rt *route) allow() string {
	methods := []string{http.MethodOptions}
	for method := range rt.methods {
		methods = append(methods, method)
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// withBody runs a request with a body within the limits. The slot is taken
// before the body is read, so that bodies cannot fill the memory.
func (s *Server) withBody(slots *slots, w http.ResponseWriter, r *http.Request, handler http.HandlerFunc) {
	if !slots.enter(r.Context()) {
		fail(w, r, chat.Errorf(chat.Overloaded, "%d requests are running already; try again when one has ended", s.cfg.MaxStreams))
		return
	}
	defer slots.leave()
	if !isJSON(r.Header) {
		refuse(w, r, http.StatusUnsupportedMediaType, "unsupported_media_type", "the body must be uncompressed JSON with Content-Type: application/json")
		return
	}
	if r.ContentLength > s.maxBody {
		w.Header().Set("Connection", "close")
		fail(w, r, errTooLarge())
		return
	}
	s.limitBody(w, r)
	handler(w, r)
}

// refuseUpgrade makes a client that asks for a WebSocket fall back to HTTP.
func refuseUpgrade(w http.ResponseWriter, r *http.Request) {
	recordOf(r).route = "/v1/responses"
	w.Header().Set("Upgrade", "HTTP/1.1")
	refuse(w, r, http.StatusUpgradeRequired, "websocket_not_supported", "this proxy speaks plain HTTP here: POST the request")
}

// up says that the proxy is up, and nothing else.
func up(w http.ResponseWriter, _ *http.Request) {
	writeBody(w, []byte(`{"status":"up"}`))
}

// health says to everybody that the proxy is up, and to a caller with the key
// what works and what does not.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	if who, ok, _ := s.callerOf(r); !ok || who.Off || s.cfg.Health == nil {
		up(w, r)
		return
	}
	body, err := json.Marshal(s.cfg.Health(r.Context()))
	if err != nil {
		fail(w, r, chat.AsError(err))
		return
	}
	writeBody(w, body)
}

func writeBody(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a failed write means that the client has left
}

func notFound(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", "GET, HEAD, OPTIONS, POST")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	const limit = 200
	path := r.URL.Path
	if len(path) > limit {
		path = path[:limit] + "..."
	}
	refuse(w, r, http.StatusNotFound, "route_not_found", "this proxy does not serve "+r.Method+" "+path)
}
