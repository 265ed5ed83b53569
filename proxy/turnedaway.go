package proxy

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"cursortray/proxy/chat"
)

// TurnedAway is a request for a model, of a caller with a key of this proxy,
// that ended before the back-end was asked: its editor is switched off, all
// slots are taken, its body cannot be read. Requests without such a key are
// nobody's, and none of these.
type TurnedAway struct {
	At     time.Time
	Client chat.Client
	// Outcome is the code of the error, or its kind in one word, as in
	// bad_gateway.
	Outcome string
	Took    time.Duration
}

// dialectOf tells the dialect of the routes that ask for a model.
var dialectOf = map[string]string{
	"/v1/chat/completions": chat.DialectChat,
	"/v1/responses":        chat.DialectResponses,
	"/v1/messages":         chat.DialectMessages,
}

// tellTurnedAway reports a request that is over, if it is one of those.
func (s *Server) tellTurnedAway(r *http.Request, rec *record, begun time.Time) {
	dialect := dialectOf[rec.route]
	if s.cfg.TurnedAway == nil || dialect == "" || !rec.known || rec.asked {
		return
	}
	s.cfg.TurnedAway(TurnedAway{
		At: begun, Client: chat.Client{Key: rec.editor, Dialect: dialect},
		Outcome: strings.ReplaceAll(rec.outcome, " ", "_"), Took: time.Since(begun),
	})
}

// noted is a back-end that notes in the record of a request that it was asked.
type noted struct{ chat.Backend }

func (b noted) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	recordIn(ctx).asked = true
	return b.Backend.Chat(ctx, req)
}
