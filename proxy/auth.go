package proxy

import (
	"net/http"
	"strings"

	"cursortray/proxy/chat"
)

// keysOf returns the keys that a request carries, in any of the headers that
// clients use. There may be several; one good one is enough.
func keysOf(h http.Header) []string {
	var keys []string
	for _, value := range h.Values("Authorization") {
		scheme, key, _ := strings.Cut(value, " ")
		if key = strings.TrimSpace(key); strings.EqualFold(scheme, "Bearer") && key != "" {
			keys = append(keys, key)
		}
	}
	for _, name := range []string{"X-Api-Key", "Api-Key"} {
		for _, key := range h.Values(name) {
			if key != "" {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// hasKey tells whether a request carries the key. The error says that this is
// not known now.
func (s *Server) hasKey(r *http.Request) (bool, *chat.Error) {
	if s.cfg.Authorize == nil {
		return true, nil
	}
	var unknown *chat.Error
	for _, key := range keysOf(r.Header) {
		ok, err := s.cfg.Authorize(r.Context(), key)
		if err != nil {
			unknown = chat.AsError(err)
		} else if ok {
			return true, nil
		}
	}
	return false, unknown
}

// authorized answers a request without the key, and then returns false.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	ok, err := s.hasKey(r)
	switch {
	case ok:
	case err != nil:
		fail(w, r, err)
	default:
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, r, http.StatusUnauthorized, "invalid_api_key",
			"the API key of this proxy is missing or wrong; copy it from the cursortray menu, or run: cursortray key")
	}
	return ok
}
