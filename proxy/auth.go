package proxy

import (
	"net/http"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
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

// callerOf tells whether a request carries a key, and whose. The error says
// that this is not known now.
func (s *Server) callerOf(r *http.Request) (Caller, bool, *chat.Error) {
	if s.cfg.Authorize == nil {
		return Caller{}, true, nil
	}
	var unknown *chat.Error
	for _, key := range keysOf(r.Header) {
		who, ok, err := s.cfg.Authorize(r.Context(), key)
		if err != nil {
			unknown = chat.AsError(err)
		} else if ok {
			return who, true, nil
		}
	}
	return Caller{}, false, unknown
}

// authorized returns the request with what is known of its caller. One without
// a good key it answers, and then returns false.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	who, ok, err := s.callerOf(r)
	recordOf(r).editor, recordOf(r).known = who.Editor, ok && err == nil
	switch {
	case err != nil:
		fail(w, r, err)
	case !ok:
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, r, http.StatusUnauthorized, "invalid_api_key",
			"the API key of this proxy is missing or wrong; copy it from the cursortray menu, or run: cursortray key. "+
				"If cursortray set this editor up, its key has ended; then set it up again")
	case who.Off:
		refuse(w, r, http.StatusForbidden, "editor_switched_off", "cursortray is switched off for "+who.Editor+
			"; switch it on in its menu, or run: cursortray setup "+who.Editor+" --on")
	case who.Editor != "":
		return r.WithContext(turn.WithKeyOwner(r.Context(), who.Editor)), true
	default:
		return r, true
	}
	return r, false
}
