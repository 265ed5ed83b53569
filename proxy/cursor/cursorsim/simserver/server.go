package simserver

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxBody bounds what a unary call may send.
const maxBody = 4 << 20

// call is one request, read in full, with the server's time for it.
type call struct {
	r    *http.Request
	host hostKind
	body []byte
	now  time.Time
}

// path is the route as tests, faults and the journal name it.
func (c *call) path() string { return c.r.URL.Path }

// answer is a response before any fault has its way with it.
type answer struct {
	status      int
	contentType string
	header      map[string]string // more headers
	body        []byte
}

// route is one path of one or more hosts.
type route struct {
	method string
	hosts  hostKind
	form   form
	answer func(*Sim, *call) answer // nil for a stream
}

// form says which rules of the wire a route is under.
type form int

const (
	pageForm    form = iota // a browser calls it
	loginForm               // poll and token calls: no access token, no Connect
	getForm                 // a plain GET with an access token
	connectForm             // a unary Connect call
	cookieForm              // the web dashboard's own calls
	streamForm              // a run
)

// The unary services.
const (
	configService    = "/aiserver.v1.ServerConfigService/"
	aiService        = "/aiserver.v1.AiService/"
	agentService     = "/agent.v1.AgentService/"
	dashboardService = "/aiserver.v1.DashboardService/"
)

// routeTable lists the paths; a login page is reached by GET and POST.
func routeTable() map[string]route {
	t := map[string]route{
		"/loginDeepControl": {"", webHost, pageForm, (*Sim).loginPage},
		"/":                 {http.MethodGet, webHost, pageForm, (*Sim).homePage},
		"/auth/poll":        {http.MethodGet, apiHost, loginForm, (*Sim).poll},
		PathExchange:        {http.MethodPost, apiHost, loginForm, (*Sim).exchange},
		PathToken:           {http.MethodPost, apiHost, loginForm, (*Sim).token},
		PathRefresh:         {http.MethodPost, apiHost, loginForm, (*Sim).refresh},

		configService + "GetServerConfig":          {http.MethodPost, apiHost, connectForm, (*Sim).serverConfig},
		aiService + "AvailableModels":              {http.MethodPost, apiHost, connectForm, (*Sim).availableModels},
		aiService + "GetUsableModels":              {http.MethodPost, apiHost, connectForm, (*Sim).usableModels},
		agentService + "GetUsableModels":           {http.MethodPost, apiHost | agentHost, connectForm, (*Sim).usableModels},
		aiService + "GetDefaultModelForCli":        {http.MethodPost, apiHost, connectForm, (*Sim).defaultModel},
		agentService + "GetDefaultModelForCli":     {http.MethodPost, apiHost | agentHost, connectForm, (*Sim).defaultModel},
		RunPath:                                    {http.MethodPost, agentHost | apiHost, streamForm, nil},
		dashboardService + "GetMe":                 {http.MethodPost, apiHost, connectForm, (*Sim).me},
		dashboardService + "GetTeams":              {http.MethodPost, apiHost, connectForm, (*Sim).teams},
		"/auth/full_stripe_profile":                {http.MethodGet, apiHost, getForm, (*Sim).stripeProfile},
		"/auth/usage":                              {http.MethodGet, apiHost, getForm, (*Sim).legacyUsage},
		"/api/auth/me":                             {http.MethodGet, webHost, cookieForm, (*Sim).webMe},
		"/api/usage":                               {http.MethodGet, webHost, cookieForm, (*Sim).webUsage},
		"/api/usage-summary":                       {http.MethodGet, webHost, cookieForm, (*Sim).planCase},
		"/api/auth/stripe":                         {http.MethodGet, webHost, cookieForm, (*Sim).planCase},
		"/api/dashboard/get-filtered-usage-events": {http.MethodPost, webHost, cookieForm, (*Sim).webEvents},
	}
	for _, name := range []string{
		"GetCurrentPeriodUsage", "GetPlanInfo", "GetCreditGrantsBalance", "GetHardLimit",
		"GetUsageLimitPolicyStatus", "GetUsageLimitStatusAndActiveGrants", "GetAggregatedUsageEvents",
	} {
		t[dashboardService+name] = route{http.MethodPost, apiHost, connectForm, (*Sim).planCase}
	}
	return t
}

// serve answers one call of the hosts of Cursor.
func (s *Sim) serve(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		panic(http.ErrAbortHandler)
	}
	defer s.calls.Done()
	host, known := lookUpHost(s.hosts, r.Host)
	c := &call{r: r, host: host, now: s.serverTime()}
	s.journal.count(c.path())
	out := &recorder{ResponseWriter: w}
	defer s.note(c, out)

	hits := s.faults.hit(c.path())
	c.now = c.now.Add(hits.skew())
	out.Header().Set("Date", c.now.UTC().Format(http.TimeFormat))
	if !known {
		s.violate(c, "host", "no such host: "+r.Host)
		write(out, connectError(http.StatusMisdirectedRequest, "unavailable", "no such host"))
		return
	}
	route, refusal := s.find(c)
	if refusal == nil {
		s.check(c, route)
		if route.form != streamForm {
			refusal = c.read(w)
		}
	}
	if !hits.before(r.Context(), out) {
		return
	}
	if refusal != nil {
		write(out, *refusal)
		return
	}
	if route.form == streamForm {
		s.serveRun(out, c)
		return
	}
	hits.write(r.Context(), out, route.answer(s, c))
}

// find returns the route of a call, or the answer to a call that has none.
func (s *Sim) find(c *call) (route, *answer) {
	found, ok := s.routes[c.path()]
	if !ok || found.hosts&c.host == 0 {
		s.violate(c, "route", "Cursor has no such call on this host: "+c.r.Host)
		a := connectError(http.StatusNotFound, "unimplemented", "not found")
		return found, &a
	}
	if found.method != "" && found.method != c.r.Method {
		s.violate(c, "method", c.r.Method+" instead of "+found.method)
		a := connectError(http.StatusMethodNotAllowed, "unimplemented", "method not allowed")
		a.header = map[string]string{"Allow": found.method}
		return found, &a
	}
	return found, nil
}

// read takes the body in, or gives the refusal.
func (c *call) read(w http.ResponseWriter) *answer {
	var err error
	c.body, err = io.ReadAll(http.MaxBytesReader(w, c.r.Body, maxBody))
	var tooBig *http.MaxBytesError
	var a answer
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tooBig):
		a = connectError(http.StatusRequestEntityTooLarge, "resource_exhausted", "the request is larger than 4 MiB")
	default:
		a = connectError(http.StatusBadRequest, "invalid_argument", "the request ended early")
	}
	return &a
}

// serverTime is the present as the server has it.
func (s *Sim) serverTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now().Add(s.settings.Skew)
}

func (s *Sim) note(c *call, out *recorder) {
	s.journal.add(Request{Time: c.now, Proto: c.r.Proto, Method: c.r.Method, Host: c.r.Host, Path: c.path(), Status: out.status})
	s.log.Info("call", "method", c.r.Method, "host", c.r.Host, "path", c.path(), "status", out.status, "proto", c.r.Proto)
}

func (s *Sim) violate(c *call, rule, detail string) {
	s.journal.violate(Violation{Route: c.path(), Rule: rule, Detail: detail})
	s.log.Warn("the client breaks a rule", "path", c.path(), "rule", rule, "detail", detail)
}

// recorder remembers the status that was sent.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func write(w http.ResponseWriter, a answer) {
	writeHeader(w, a)
	_, _ = w.Write(a.body) // the client may be gone, which is its right
}

// writeHeader promises the whole body.
func writeHeader(w http.ResponseWriter, a answer) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.contentType != "" {
		w.Header().Set("Content-Type", a.contentType)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
}

// jsonAnswer is a 200 with v, which must be encodable.
func jsonAnswer(v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		return connectError(http.StatusInternalServerError, "internal", fmt.Sprintf("encode the answer: %v", err))
	}
	return answer{status: http.StatusOK, contentType: "application/json", body: body}
}

// connectError is an error as a Connect server writes it.
func connectError(status int, code, message string) answer {
	a := jsonAnswer(map[string]string{"code": code, "message": message})
	a.status = status
	return a
}

// newClient makes the client of HTTPClient.
func (s *Sim) newClient() *http.Client {
	proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: s.addrs.proxy})
	return &http.Client{Transport: &http.Transport{
		Proxy: proxy, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: s.ca.pool, MinVersion: tls.VersionTLS12},
	}}
}

// HTTPClient is a client that trusts the simulation and goes through its
// proxy. It belongs to the Sim.
func (s *Sim) HTTPClient() *http.Client { return s.client }

// wait pauses for d, or until the call or the simulation ends.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
