package control

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"cursortray/app"
)

// Editor is one editor in `cursortray status --json` and `cursortray setup
// --json`.
type Editor struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Found    bool       `json:"found"`               // it seems to be installed
	State    string     `json:"state,omitempty"`     // not set up, set up, changed, broken or by hand
	Keyed    bool       `json:"keyed"`               // it has a local key of its own
	Off      bool       `json:"off"`                 // its requests are refused
	Files    []string   `json:"files,omitempty"`     // with setup: what is or would be edited
	Problem  string     `json:"problem,omitempty"`   // with setup and broken: what is wrong
	LastUsed *time.Time `json:"last_used,omitempty"` // of the running instance's time
	Requests int        `json:"requests"`            // of the last 24 hours, since the instance began
}

// EditorKeys are the local keys of editors in the instance.
type EditorKeys interface {
	Key(ctx context.Context, id string) (string, error)
	Revoke(ctx context.Context, id string) error
	Switch(ctx context.Context, id string, off bool) error
	Off(ctx context.Context) (map[string]bool, error)
	ForThisRun() bool // they are lost when the instance ends
}

// EditorUse is what the instance knows of editors.
type EditorUse struct {
	Off        map[string]bool `json:"off"` // of those with a key
	ForThisRun bool            `json:"for_this_run"`
	Editors    []Editor        `json:"editors"` // that have asked or have a key
}

func (s *server) editorRoutes(mux *http.ServeMux) {
	keys := s.cfg.EditorKeys
	if keys == nil {
		return
	}
	mux.HandleFunc("GET /editors", func(w http.ResponseWriter, r *http.Request) {
		off, err := keys.Off(r.Context())
		if err != nil {
			refuse(w, err)
			return
		}
		reply(w, EditorUse{Off: off, ForThisRun: keys.ForThisRun(), Editors: editorsOf(s.cfg.Instance.Snapshot().Editors)})
	})
	mux.HandleFunc("POST /editors/{id}/key", func(w http.ResponseWriter, r *http.Request) {
		key, err := keys.Key(r.Context(), r.PathValue("id"))
		s.changed(w, err, keyBody{key})
	})
	mux.HandleFunc("DELETE /editors/{id}/key", func(w http.ResponseWriter, r *http.Request) {
		s.changed(w, keys.Revoke(r.Context(), r.PathValue("id")), struct{}{})
	})
	for path, off := range map[string]bool{"off": true, "on": false} {
		mux.HandleFunc("POST /editors/{id}/"+path, func(w http.ResponseWriter, r *http.Request) {
			s.changed(w, keys.Switch(r.Context(), r.PathValue("id"), off), struct{}{})
		})
	}
	mux.HandleFunc("POST /do/look-for-editors", func(w http.ResponseWriter, _ *http.Request) {
		s.changed(w, nil, struct{}{})
	})
}

// changed answers, and has the instance look at the editors again.
func (s *server) changed(w http.ResponseWriter, err error, body any) {
	if err != nil {
		refuse(w, err)
		return
	}
	s.cfg.Instance.Do(app.LookForEditors{})
	reply(w, body)
}

// editorsOf translates the part of the list that uses the proxy, or could.
func editorsOf(list *app.EditorList) []Editor {
	some := []Editor{}
	if list == nil {
		return some
	}
	for _, e := range list.All {
		if !e.Keyed && e.Runs == 0 {
			continue
		}
		told := Editor{ID: e.ID, Name: e.Name, Found: e.Found, State: e.State, Keyed: e.Keyed, Off: e.Off, Requests: e.Runs}
		if !e.LastUsed.IsZero() {
			last := e.LastUsed.UTC().Truncate(time.Second)
			told.LastUsed = &last
		}
		some = append(some, told)
	}
	return some
}

// Editors asks what the instance knows of editors.
func (c *Client) Editors(ctx context.Context) (EditorUse, error) {
	return call[EditorUse](ctx, c, http.MethodGet, "/editors")
}

// EditorKey returns an editor's key, made at first use.
func (c *Client) EditorKey(ctx context.Context, id string) (string, error) {
	body, err := call[keyBody](ctx, c, http.MethodPost, "/editors/"+url.PathEscape(id)+"/key")
	return body.Key, err
}

// RevokeEditor makes an editor's key worthless.
func (c *Client) RevokeEditor(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, c, http.MethodDelete, "/editors/"+url.PathEscape(id)+"/key")
	return err
}

// SwitchEditor refuses an editor's requests from now on, or not any more.
func (c *Client) SwitchEditor(ctx context.Context, id string, off bool) error {
	to := map[bool]string{true: "off", false: "on"}[off]
	_, err := call[struct{}](ctx, c, http.MethodPost, "/editors/"+url.PathEscape(id)+"/"+to)
	return err
}

// LookForEditors tells the instance that an editor's files have changed.
func (c *Client) LookForEditors(ctx context.Context) error {
	_, err := call[struct{}](ctx, c, http.MethodPost, "/do/look-for-editors")
	return err
}
