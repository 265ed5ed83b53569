package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// maxStreams is far above the pages that a person looks at.
	maxStreams = 32
	// newsSpacing keeps a busy proxy from making a page all the time.
	newsSpacing = 250 * time.Millisecond
	// heartbeat is how often a page is made anew without a reason, because ages
	// grow, and how often the browser hears that the program is there.
	heartbeat = 25 * time.Second
	// writePatience is for a browser that does not read.
	writePatience = 10 * time.Second
)

// events sends the parts of a page again when they have changed, until the
// browser or the server leaves.
func (d *Dashboard) events(w http.ResponseWriter, r *http.Request, s *session) {
	p := d.page(r.URL.Query().Get("page"))
	if p == nil {
		http.Error(w, "There is no such page.", http.StatusNotFound)
		return
	}
	defer d.streams.Add(-1)
	if d.streams.Add(1) > maxStreams {
		http.Error(w, "Too many pages are open.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := &news{w: w, control: http.NewResponseController(w), sent: map[string]string{}}
	ctx := r.Context()
	watch := d.cfg.App.Watch(ctx)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		v := d.visit(r)
		select {
		case <-ctx.Done():
			return
		case snap, open := <-watch:
			if !open {
				return
			}
			v.snap = snap
		case <-beat.C:
		}
		d.doors.touch(s)
		v.now = d.cfg.Now()
		parts, err := d.parts(p, s, v)
		if err != nil {
			d.cfg.Logger.Error("a part of the dashboard could not be made", "error", err)
			return
		}
		if out.send(parts) != nil {
			return
		}
		pause.Reset(newsSpacing)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// news is one stream of events.
type news struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    map[string]string // the revision of each part
}

// send writes the parts that are not what was sent last, or a comment.
func (n *news) send(parts []part) error {
	_ = n.control.SetWriteDeadline(time.Now().Add(writePatience)) // without one a stuck browser is found later
	text := []byte(": there\n\n")
	for _, p := range parts {
		if n.sent[p.ID] == p.Rev {
			continue
		}
		n.sent[p.ID] = p.Rev
		body, err := json.Marshal(p)
		if err != nil {
			return err
		}
		text = fmt.Appendf(text, "event: part\ndata: %s\n\n", body)
	}
	if _, err := n.w.Write(text); err != nil {
		return err
	}
	return n.control.Flush()
}
