package simserver

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

// clientMemory is what must not change, or must not repeat, between the calls
// of one client.
type clientMemory struct {
	mu         sync.Mutex
	device     string          // behind the time in x-cursor-checksum
	requestIDs map[string]bool // that were used
}

func (m *clientMemory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.device, m.requestIDs = "", nil
}

// sameDevice tells whether device is that of the calls before, or the first.
func (m *clientMemory) sameDevice(device string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.device == "" {
		m.device = device
	}
	return m.device == device
}

// fresh tells whether an id was not used before.
func (m *clientMemory) fresh(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requestIDs == nil || len(m.requestIDs) >= journalLimit {
		m.requestIDs = map[string]bool{}
	}
	used := m.requestIDs[id]
	m.requestIDs[id] = true
	return !used
}

// check records what is wrong with the headers of a call. It refuses nothing:
// the real server is known to let most of this pass, until some day it does
// not.
func (s *Sim) check(c *call, r route) {
	switch r.form {
	case pageForm:
		return
	case cookieForm:
		if c.r.Header.Get("Authorization") != "" {
			s.violate(c, "bearer", "the web dashboard takes a cookie, not an access token")
		}
		return
	}
	s.checkIdentity(c)
	s.checkChecksum(c)
	s.checkRequestID(c, r)
	s.checkContent(c, r)
	if c.r.Header.Get("Cookie") != "" {
		s.violate(c, "cookie", "API calls carry no cookies")
	}
}

// The shapes of the client headers, as clients of 2026 send them.
var (
	versionShape  = pattern(`^cli-[0-9A-Za-z][0-9A-Za-z._-]*$`)
	uuidShape     = pattern(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	checksumShape = pattern(`^([A-Za-z0-9+/]{8})([0-9a-f]{64}(?:/[0-9a-f]{64})?)$`)
	zoneShape     = pattern(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)
)

func (s *Sim) checkIdentity(c *call) {
	h := c.r.Header
	if got := h.Get("X-Cursor-Client-Type"); got != "cli" {
		s.violate(c, "client-type", "x-cursor-client-type is "+quote(got)+", not cli")
	}
	if got := h.Get("X-Cursor-Client-Version"); !versionShape().MatchString(got) {
		s.violate(c, "client-version", "x-cursor-client-version is "+quote(got))
	}
	if got := h.Get("X-Ghost-Mode"); got != "true" && got != "false" {
		s.violate(c, "ghost-mode", "x-ghost-mode is "+quote(got))
	}
	if got := h.Get("X-Cursor-Timezone"); !zoneShape().MatchString(got) {
		s.violate(c, "timezone", "x-cursor-timezone is "+quote(got))
	}
	for _, name := range []string{"X-Cursor-Client-Type", "X-Cursor-Client-Version", "X-Ghost-Mode", "X-Request-Id", "X-Cursor-Checksum", "Authorization"} {
		if n := len(h.Values(name)); n > 1 {
			s.violate(c, "repeated", strings.ToLower(name)+" is sent more than once")
		}
	}
}

func (s *Sim) checkChecksum(c *call) {
	parts := checksumShape().FindStringSubmatch(c.r.Header.Get("X-Cursor-Checksum"))
	if parts == nil {
		s.violate(c, "checksum", "x-cursor-checksum is not 8 characters, a hash, and maybe a slash and a hash")
		return
	}
	n, ok := checksumTime(parts[1])
	if !ok {
		s.violate(c, "checksum", "the time in x-cursor-checksum is not encoded as it should be")
	} else if d := n.Sub(s.now()); d < -48*time.Hour || d > 48*time.Hour {
		s.violate(c, "checksum-time", "the time in x-cursor-checksum is days from the present")
	}
	if !s.clients.sameDevice(parts[2]) {
		s.violate(c, "device", "the device ids differ from those of the calls before")
	}
}

// checksumTime decodes the time in the first 8 characters of a checksum: six
// bytes b8 b0 b24 b16 b8 b0 of the time in units of 1000 seconds, each hidden
// by the one before it. The order is that of a shift in JavaScript, which
// takes the distance modulo 32.
func checksumTime(text string) (time.Time, bool) {
	hidden, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(text) != 8 || len(hidden) != 6 { // the decoder skips line ends
		return time.Time{}, false
	}
	var b [6]byte
	previous := byte(165)
	for i, x := range hidden {
		b[i] = (x - byte(i)) ^ previous
		previous = x
	}
	if b[0] != b[4] || b[1] != b[5] {
		return time.Time{}, false
	}
	n := int64(b[2])<<24 | int64(b[3])<<16 | int64(b[4])<<8 | int64(b[5])
	return time.Unix(n*1000, 0), true
}

// checkRequestID: the calls of a logged-in client carry a new id each. Those
// of a login may, and then it is held to the same rule.
func (s *Sim) checkRequestID(c *call, r route) {
	id := c.r.Header.Get("X-Request-Id")
	switch {
	case id == "" && r.form == loginForm:
	case !uuidShape().MatchString(id):
		s.violate(c, "request-id", "x-request-id is not a random UUID: "+quote(id))
	case !s.clients.fresh(id):
		s.violate(c, "request-id", "x-request-id was used before")
	}
}

func (s *Sim) checkContent(c *call, r route) {
	if r.form == connectForm || r.form == streamForm {
		if got := c.r.Header.Get("Connect-Protocol-Version"); got != "1" {
			s.violate(c, "connect-version", "connect-protocol-version is "+quote(got)+", not 1")
		}
	}
	if r.form == streamForm {
		s.checkStream(c)
		return
	}
	if c.r.Method != http.MethodPost {
		return
	}
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && (kind != "application/proto" || r.form != connectForm) {
		s.violate(c, "content-type", "content-type is "+quote(c.r.Header.Get("Content-Type")))
	}
}

// checkStream: the headers of a run, as five independent clients send them.
func (s *Sim) checkStream(c *call) {
	h := c.r.Header
	if got := h.Get("Content-Type"); got != "application/connect+proto" {
		s.violate(c, "content-type", "content-type is "+quote(got))
	}
	if got := h.Get("Te"); got != "trailers" {
		s.violate(c, "te", "te is "+quote(got)+", not trailers")
	}
	if got := h.Get("X-Cursor-Streaming"); got != "" && got != "true" {
		s.violate(c, "streaming", "x-cursor-streaming is "+quote(got))
	}
	if got := h.Get("Connect-Content-Encoding"); got != "" && got != "identity" {
		s.violate(c, "encoding", "a client compresses nothing, but connect-content-encoding is "+quote(got))
	}
	if got := h.Get("Connect-Accept-Encoding"); got != "" && got != "gzip" {
		s.violate(c, "encoding", "connect-accept-encoding is "+quote(got))
	}
}

// quote shows a header value, unless it is so long that it may be a secret.
func quote(text string) string {
	if len(text) > 60 {
		return "a long text"
	}
	return `"` + text + `"`
}
