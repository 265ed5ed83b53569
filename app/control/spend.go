package control

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Guard is what the spend guard does.
type Guard struct {
	Reached      string     `json:"reached,omitempty"`       // the limit that refuses requests, in words
	Until        *time.Time `json:"until,omitempty"`         // when it lets requests through again
	AllowedUntil *time.Time `json:"allowed_until,omitempty"` // when limits that were lifted hold again
	RunsHour     int        `json:"runs_hour"`               // requests for a model in the last hour
	SpentDay     string     `json:"spent_day_usd,omitempty"` // by the table of prices, in the last 24 hours
}

func guardOf(g app.GuardStatus) Guard {
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC().Truncate(time.Second)
		return &t
	}
	told := Guard{Reached: g.Reached, Until: moment(g.Until), AllowedUntil: moment(g.AllowedUntil), RunsHour: g.RunsHour}
	if g.SpentDay != "" {
		told.SpentDay = g.SpentDay[1:] // without the sign
	}
	return told
}

// allow lifts the limits and answers once that shows.
func (s *server) allow(w http.ResponseWriter, r *http.Request) {
	duration, err := time.ParseDuration(r.FormValue("for"))
	if err != nil || duration < 0 {
		refuse(w, chat.Errorf(chat.Invalid, "for must be a duration such as 1h"))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), settleTime)
	defer cancel()
	notices := s.cfg.Instance.Snapshot().Notice.N
	watch := s.cfg.Instance.Watch(ctx)
	s.cfg.Instance.Do(app.AllowSpending{For: duration})
	for snapshot := range watch {
		if snapshot.Notice.N != notices && (duration > 0) == !snapshot.Guard.AllowedUntil.IsZero() {
			break
		}
	}
	reply(w, statusOf(s.cfg.Instance.Snapshot()))
}

// Allow lifts all spend limits for a while, and returns how things are then; 0
// makes them hold again.
func (c *Client) Allow(ctx context.Context, duration time.Duration) (Status, error) {
	return call[Status](ctx, c, http.MethodPost, "/do/allow?for="+url.QueryEscape(duration.String()))
}
