package control

import (
	"context"
	"net/http"
	"net/url"
)

// Page is where the dashboard of the running instance is.
type Page struct {
	URL string `json:"url"` // opens it once, within a minute
}

func (s *server) openDashboard(w http.ResponseWriter, r *http.Request) {
	link, err := s.cfg.Dashboard(r.Context(), r.FormValue("page"))
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, Page{link})
}

// Dashboard asks for a link to a page of the dashboard; "" is the first one. The
// caller opens it: it knows the screen that its user looks at.
func (c *Client) Dashboard(ctx context.Context, page string) (Page, error) {
	return call[Page](ctx, c, http.MethodPost, "/open?"+url.Values{"page": {page}}.Encode())
}
