package simserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// FuzzCalls: whatever a client sends, the server answers it with a status and,
// off the login page, with JSON, and goes on.
func FuzzCalls(f *testing.F) {
	s, err := Start(context.Background(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	tokens, err := s.NewLogin(DefaultUser, s.Settings().AccessLifetime)
	if err != nil {
		f.Fatal(err)
	}
	var paths []string
	for path := range s.routes {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for i := range paths {
		f.Add(i, "", []byte("{}"), "application/json", tokens.Access)
		f.Add(i, "user=user_01EXAMPLE&uuid=x&verifier=y", []byte(`{"teamId":"x","refreshToken":1}`), "application/proto", DefaultKey)
		f.Add(i, "%zz", []byte("decision=allow"), "application/x-www-form-urlencoded", "")
	}
	f.Fuzz(func(t *testing.T, which int, query string, body []byte, kind, token string) {
		path := paths[uint(which)%uint(len(paths))]
		route := s.routes[path]
		method := route.method
		if method == "" {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, path, strings.NewReader(string(body)))
		r.URL.RawQuery = query
		r.Host = "api2.cursor.sh"
		if route.hosts&apiHost == 0 {
			r.Host = "cursor.com"
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Cookie", cookieName+"=user_01EXAMPLE%3A%3A"+token)
		w := httptest.NewRecorder()
		s.serve(w, r)
		if w.Code < 200 || w.Code > 599 || w.Header().Get("Date") == "" {
			t.Errorf("status %d, Date %q", w.Code, w.Header().Get("Date"))
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("not JSON: %q", w.Body)
		}
	})
}

func FuzzControl(f *testing.F) {
	f.Add([]byte(`{"kind":"latency","delay":"1s","skew":"-1h"}`))
	f.Add([]byte(`{"accessLifetime":"1h","skew":"1s"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var fault Fault
		if json.Unmarshal(text, &fault) == nil {
			again, err := json.Marshal(fault)
			var second Fault
			if err != nil || json.Unmarshal(again, &second) != nil || second != fault {
				t.Errorf("%s: %+v became %+v (%v)", text, fault, second, err)
			}
		}
		settings := defaultSettings()
		if json.Unmarshal(text, &settings) == nil {
			if _, err := json.Marshal(settings); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzChecksumTime(f *testing.F) {
	f.Add("Fufp9km+")
	f.Fuzz(func(t *testing.T, text string) {
		if at, ok := checksumTime(text); ok && at.Unix() >= 0 && checksum(at) != text {
			t.Errorf("%q is %v, which is written %q", text, at, checksum(at))
		}
	})
}
