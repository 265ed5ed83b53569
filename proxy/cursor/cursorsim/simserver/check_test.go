package simserver

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestHeadersOfCalls(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	otherDevice := strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		edit func(*http.Request)
		rule string
	}{
		"no type":           {set("X-Cursor-Client-Type", ""), "client-type"},
		"IDE":               {set("X-Cursor-Client-Type", "ide"), "client-type"},
		"no version":        {set("X-Cursor-Client-Version", ""), "client-version"},
		"bare version":      {set("X-Cursor-Client-Version", "2026.08.25-3e8eec8"), "client-version"},
		"empty build":       {set("X-Cursor-Client-Version", "cli-"), "client-version"},
		"no ghost":          {set("X-Ghost-Mode", ""), "ghost-mode"},
		"ghost":             {set("X-Ghost-Mode", "yes"), "ghost-mode"},
		"no zone":           {set("X-Cursor-Timezone", ""), "timezone"},
		"offset":            {set("X-Cursor-Timezone", "+02:00"), "timezone"},
		"no request id":     {set("X-Request-Id", ""), "request-id"},
		"UUID version 1":    {set("X-Request-Id", "d9428888-122b-11e1-b85c-61cd3cbb3210"), "request-id"},
		"no checksum":       {set("X-Cursor-Checksum", ""), "checksum"},
		"other obfuscation": {set("X-Cursor-Checksum", "AAAAAAAA"+device), "checksum"},
		"upper case":        {set("X-Cursor-Checksum", checksum(time.Now())+strings.ToUpper(device)), "checksum"},
		"stale":             {set("X-Cursor-Checksum", checksum(time.Now().AddDate(0, 0, -9))+device), "checksum-time"},
		"other device":      {set("X-Cursor-Checksum", checksum(time.Now())+otherDevice), "device"},
		"no Connect":        {set("Connect-Protocol-Version", ""), "connect-version"},
		"wrong type":        {set("Content-Type", "text/plain"), "content-type"},
		"cookie":            {set("Cookie", "a=b"), "cookie"},
		"two versions":      {func(r *http.Request) { r.Header.Add("X-Cursor-Client-Version", "cli-1") }, "repeated"},
	} {
		t.Run(name, func(t *testing.T) {
			c.edit = nil
			c.post(usage, token, "{}") // the device that is known
			c.edit = tc.edit
			c.post(usage, token, "{}")
			wantRules(t, s, tc.rule)
		})
	}
	c.edit = set("X-Request-Id", newUUID())
	c.post(usage, token, "{}")
	c.post(usage, token, "{}")
	wantRules(t, s, "request-id")
	c.edit = nil
	c.do(http.MethodGet, api+"/auth/usage", token, "").want(t, 200)
	wantRules(t, s)
	// A login needs no request id, but nobody is excused from the rest.
	c.edit = func(r *http.Request) { r.Header.Del("X-Request-Id"); r.Header.Del("X-Ghost-Mode") }
	c.do(http.MethodGet, newAttempt().poll, "", "").want(t, 404)
	wantRules(t, s, "ghost-mode")
}

func TestViolationsShowNoSecret(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	c.edit = func(r *http.Request) { r.Header.Set("X-Cursor-Client-Version", token) }
	c.post(usage, token, "{}")
	for _, v := range s.Violations() {
		if strings.Contains(v.String(), token) {
			t.Error("a token is in a violation")
		}
	}
}

// The vectors were computed in two languages.
func TestChecksumTime(t *testing.T) {
	for text, want := range map[string]int64{"Fufp9km+": 1750000000, "jK2vt6KH": 1780000000} {
		if got, ok := checksumTime(text); !ok || got.Unix() != want {
			t.Errorf("%s: %v, %v", text, got.Unix(), ok)
		}
		if got := checksum(time.Unix(want, 0)); got != text {
			t.Errorf("the tests' client writes %s instead of %s", got, text)
		}
	}
	for _, text := range []string{"", "paaotQr_", "AAAAAAAA", "Fufp9km"} {
		if _, ok := checksumTime(text); ok {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestCallsThatDoNotExist(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	c.post("/aiserver.v1.AiService/NoSuchCall", "", "{}").want(t, 404)
	c.do(http.MethodPost, web+usage, "", "{}").want(t, 404)   // another host's
	c.do(http.MethodPost, agent+usage, "", "{}").want(t, 404) // another host's
	c.do(http.MethodGet, api+"/loginDeepControl", "", "").want(t, 404)
	wantRules(t, s, "route", "route", "route", "route")
	if r := c.do(http.MethodGet, api+usage, "", ""); r.status != 405 || r.header.Get("Allow") != "POST" {
		t.Errorf("status %d, Allow %q", r.status, r.header.Get("Allow"))
	}
	wantRules(t, s, "method")
	c.edit = func(r *http.Request) { r.Host = "elsewhere.example" }
	c.post(usage, "", "{}").want(t, 421)
	wantRules(t, s, "host")
	c.edit = nil
	c.post(usage, logIn(t, s).Access, strings.Repeat(" ", maxBody+1)).want(t, 413)
	wantRules(t, s)
}
