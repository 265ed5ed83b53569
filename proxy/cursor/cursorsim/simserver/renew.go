package simserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// exchange takes an API key for a new login, or the refresh token of a login
// for new tokens.
func (s *Sim) exchange(c *call) answer {
	s.checkEmptyObject(c)
	token := bearer(c.r)
	if !strings.HasPrefix(token, "crsr_") {
		return s.renew(c, token)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	user, ok := s.accounts.keys[token]
	if !ok {
		return invalidKey()
	}
	tokens := s.accounts.open(user, c.now, s.settings.AccessLifetime)
	return jsonAnswer(map[string]any{"accessToken": tokens.Access, "refreshToken": tokens.Refresh, "authId": user})
}

// token takes a refresh token in the body.
func (s *Sim) token(c *call) answer {
	var body struct{ RefreshToken string }
	if refused := s.decode(c, &body); refused != nil {
		return *refused
	}
	return s.renew(c, body.RefreshToken)
}

// refresh takes a refresh token as bearer.
func (s *Sim) refresh(c *call) answer {
	s.checkEmptyObject(c)
	return s.renew(c, bearer(c.r))
}

// renew gives new tokens for a refresh token.
func (s *Sim) renew(c *call, token string) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.settings.RenewPaths, c.path()) {
		return connectError(s.settings.RenewRefusal, "unimplemented", "no such call")
	}
	login := s.accounts.refresh[token]
	switch {
	case token == "":
		s.violate(c, "bearer", "no refresh token")
		return invalidKey()
	case s.accounts.spent[token]:
		s.violate(c, "refresh-reuse", "the refresh token was replaced before")
		return invalidKey()
	case login == nil || login.ended:
		return invalidKey()
	case s.settings.ShouldLogout:
		login.ended = true
		return jsonAnswer(map[string]any{"accessToken": "", "shouldLogout": true})
	}
	tokens := map[string]any{"accessToken": s.accounts.mint(login, c.now, s.settings.AccessLifetime), "shouldLogout": false}
	if !s.settings.KeepRefresh {
		tokens["refreshToken"] = s.accounts.renewable(login)
	}
	return jsonAnswer(tokens)
}

// invalidKey is the refusal of any credential that renews; the text is the
// same for keys and tokens.
func invalidKey() answer {
	return connectError(http.StatusUnauthorized, "unauthenticated", "Invalid User API Key")
}

func (s *Sim) checkEmptyObject(c *call) {
	var body map[string]json.RawMessage
	if json.Unmarshal(c.body, &body) != nil || body == nil || len(body) != 0 {
		s.violate(c, "body", "the body is not {}")
	}
}

// decode reads the JSON object in a body, or gives the refusal.
func (s *Sim) decode(c *call, into any) *answer {
	if strings.HasPrefix(c.r.Header.Get("Content-Type"), "application/proto") {
		a := connectError(http.StatusUnsupportedMediaType, "unimplemented", "the simulation has this call in JSON only")
		return &a
	}
	if text := bytes.TrimSpace(c.body); len(text) > 0 && text[0] == '{' && json.Unmarshal(text, into) == nil {
		return nil
	}
	s.violate(c, "body", "the body is not a JSON object of this call")
	a := connectError(http.StatusBadRequest, "invalid_argument", "parse the request")
	return &a
}
