package cursor

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestPKCE(t *testing.T) {
	// The example of the OAuth document that defines PKCE.
	if got := challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"); got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Errorf("challenge = %s", got)
	}
	if v := newVerifier(); len(v) != 43 || v == newVerifier() {
		t.Errorf("verifier %q", v)
	}
	id := newUUID()
	if len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) || id == newUUID() {
		t.Errorf("UUID %s", id)
	}
}

func TestExpiry(t *testing.T) {
	tests := []struct {
		token string
		want  int64 // 0 is unknown
	}{
		{makeJWT(`{"exp":1780000000}`), 1780000000},
		{makeJWT(`{"exp":1780000000.9}`), 1780000000},
		{makeJWT(`{"exp":1.78e9}`), 1780000000},
		{"e30." + "eyJleHAiOjE3ODAwMDAwMDB9" + "==.x", 1780000000}, // padded
		{makeJWT(`{}`), 0},
		{makeJWT(`{"exp":"soon"}`), 0},
		{makeJWT(`{"exp":-5}`), 0},
		{makeJWT(`{"exp":1e300}`), 0},
		{makeJWT(`[1]`), 0},
		{makeJWT(``), 0},
		{"a.b", 0}, {"a.b.c.d", 0}, {"", 0}, {"a.!.c", 0},
	}
	for _, tt := range tests {
		got := expiryOf(tt.token)
		if got.IsZero() && tt.want == 0 || got.Unix() == tt.want {
			continue
		}
		t.Errorf("expiryOf(%q) = %v, want %d", tt.token, got, tt.want)
	}
}

func FuzzExpiry(f *testing.F) {
	f.Add(`{"exp":1780000000}`)
	f.Add(`{"exp":1e999}`)
	f.Fuzz(func(t *testing.T, payload string) {
		if e := expiryOf(makeJWT(payload)); !e.IsZero() && (e.Unix() < 0 || e.Year() > 100_000) {
			t.Errorf("%s: %v", payload, e)
		}
		expiryOf(payload)
	})
}

func TestAU4_KindsOfCredential(t *testing.T) {
	jwt, endless := makeJWT(`{"exp":1780000000}`), makeJWT(`{"sub":"auth0|user_1"}`)
	tests := []struct {
		in          string
		key, access string
	}{
		{" crsr_abc\n", "crsr_abc", ""},
		{jwt, "", jwt},
		{"user_01::" + jwt, "", jwt},
		{"user_01%3A%3A" + jwt, "", jwt},
		{"auth0|user_01%3a%3a" + jwt, "", jwt},
		{endless, "", endless},
		{makeJWT(`[1]`), "", ""},
		{"crsr_", "", ""},
		{"crsr_a b", "", ""},
		{"crsr_a\r\nX-Evil: 1", "", ""},
		{"sk-123", "", ""},
		{"a.b.c", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		c, err := parseKey(tt.in)
		if c.apiKey != tt.key || c.access != tt.access || (err == nil) != (tt.key+tt.access != "") {
			t.Errorf("parseKey(%q) gives key %q, token %q, %v", tt.in, c.apiKey, c.access, err)
		}
		if err != nil && len(tt.in) > 5 && strings.Contains(err.Error(), tt.in) {
			t.Errorf("the error quotes the input: %v", err)
		}
	}
}

func TestSE2_CredentialsDoNotPrint(t *testing.T) {
	c := newCredentials("access-secret", "refresh-secret", "key-secret")
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "c", c, "p", &c)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "c", c, "p", &c)
	fmt.Fprintf(&out, "%v %+v %#v %s %q %v %+v %v", c, c, c, c, c, &c, []Credentials{c}, struct{ C Credentials }{c})
	if strings.Contains(out.String(), "secret") {
		t.Errorf("printed: %s", out.String())
	}
}

func TestStoredCredentials(t *testing.T) {
	c := newCredentials(makeJWT(`{"exp":1780000000}`), "r", "k")
	got, err := decodeCredentials(c.encode())
	if err != nil || !got.same(c) || !got.expiry.Equal(time.Unix(1780000000, 0)) {
		t.Errorf("%v became %v, %v", c, got, err)
	}
	for _, text := range []string{"", "null", "{}", `{"version":1}`, `{"version":2,"access":"secret"}`, `{"version":1,"access":"secr`, `"secret"`} {
		if _, err := decodeCredentials([]byte(text)); err == nil || strings.Contains(err.Error(), "secr") {
			t.Errorf("decodeCredentials(%q): %v", text, err)
		}
	}
}
