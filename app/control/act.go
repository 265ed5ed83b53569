package control

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"cursortray/app"
	"cursortray/proxy/chat"
)

func (s *server) actRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /do/copy", s.copy)
	mux.HandleFunc("POST /do/backend", s.backend)
}

// told is what an instance says about what it has done.
type told struct {
	Text string `json:"text"`
}

// copyAction returns what puts a thing on the clipboard; nil: nothing does.
func copyAction(what string) app.Action {
	switch what {
	case "url":
		return app.CopyBaseURL{}
	case "anthropic-url":
		return app.CopyAnthropicURL{}
	case "key":
		return app.CopyKey{}
	case "env":
		return app.CopyEnvironment{}
	}
	return nil
}

// copy has the instance copy, because the clipboard of the desktop is its own,
// and answers with what it says of that.
func (s *server) copy(w http.ResponseWriter, r *http.Request) {
	action := copyAction(r.FormValue("what"))
	if action == nil {
		refuse(w, chat.Errorf(chat.Invalid, "there is nothing of that name to copy"))
		return
	}
	before := s.cfg.Instance.Snapshot().Notice.N
	watch := s.cfg.Instance.Watch(r.Context())
	s.cfg.Instance.Do(action)
	for snapshot := range watch {
		notice := snapshot.Notice
		if notice.N <= before || notice.Text == "" {
			continue
		}
		if strings.Contains(notice.Text, "not copied") {
			refuse(w, chat.Errorf(chat.Unavailable, "%s", notice.Text))
			return
		}
		reply(w, told{notice.Text})
		return
	}
	refuse(w, chat.Errorf(chat.ShuttingDown, "cursortray is ending"))
}

// backend chooses the way of new conversations, and answers when that holds.
func (s *server) backend(w http.ResponseWriter, r *http.Request) {
	setting := r.FormValue("setting")
	if setting != "auto" && setting != "agent" && setting != "cli" {
		refuse(w, chat.Errorf(chat.Invalid, "the back-end is auto, agent or cli"))
		return
	}
	if s.cfg.Instance.Snapshot().Backend.Fixed {
		refuse(w, chat.Errorf(chat.Invalid, "this instance has one back-end only"))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), settleTime)
	defer cancel()
	watch := s.cfg.Instance.Watch(ctx)
	s.cfg.Instance.Do(app.ChooseBackend{Setting: setting})
	for snapshot := range watch {
		if snapshot.Backend.Choice == setting {
			reply(w, statusOf(snapshot))
			return
		}
	}
	refuse(w, chat.Errorf(chat.Unavailable, "the back-end was not changed"))
}

// Copy has the instance put a thing on the clipboard: url, anthropic-url, key or
// env. It returns what it says of that.
func (c *Client) Copy(ctx context.Context, what string) (string, error) {
	answer, err := call[told](ctx, c, http.MethodPost, "/do/copy?what="+url.QueryEscape(what))
	return answer.Text, err
}

// Backend chooses the way of new conversations: auto, agent or cli.
func (c *Client) Backend(ctx context.Context, setting string) (Status, error) {
	return call[Status](ctx, c, http.MethodPost, "/do/backend?setting="+url.QueryEscape(setting))
}
