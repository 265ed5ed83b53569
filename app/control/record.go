package control

import (
	"context"
	"net/http"

	"cursortray/app"
	"cursortray/proxy/chat"
)

func (s *server) recordRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /record", s.record)
	mux.HandleFunc("DELETE /record", s.recordCancel)
}

// record makes the next request the recorded one and answers when it has been
// written. A client that leaves takes the order back.
func (s *server) record(w http.ResponseWriter, r *http.Request) {
	before := s.cfg.Instance.Snapshot().Recording
	watch := s.cfg.Instance.Watch(r.Context())
	s.cfg.Instance.Do(app.RecordNext{})
	waited := false
	for snapshot := range watch {
		now := snapshot.Recording
		waited = waited || now.Waiting
		switch {
		case now.N > before.N && now.Problem != "":
			refuse(w, chat.Errorf(chat.Internal, "the request was not recorded: %s", now.Problem))
		case now.N > before.N:
			reply(w, Recording(now))
		case waited && !now.Waiting:
			refuse(w, chat.Errorf(chat.Canceled, "the recording was cancelled"))
		default:
			continue
		}
		return
	}
	if r.Context().Err() != nil {
		s.cfg.Instance.Do(app.CancelRecord{})
	}
	refuse(w, chat.Errorf(chat.ShuttingDown, "cursortray is ending"))
}

func (s *server) recordCancel(w http.ResponseWriter, _ *http.Request) {
	was := s.cfg.Instance.Snapshot().Recording
	s.cfg.Instance.Do(app.CancelRecord{})
	reply(w, Recording(was))
}

// Record makes the instance record its next request and waits until that is
// done.
func (c *Client) Record(ctx context.Context) (Recording, error) {
	return call[Recording](ctx, c, http.MethodPost, "/record")
}

// RecordCancel takes that back, and returns how it stood.
func (c *Client) RecordCancel(ctx context.Context) (Recording, error) {
	return call[Recording](ctx, c, http.MethodDelete, "/record")
}
