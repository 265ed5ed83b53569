package agentrpc

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"cursortray/proxy/chat"
	pb "cursortray/proxy/cursor/cursorpb"
)

// failFirst fails the first n runs with err and then answers.
func failFirst(n int, err error) func(*session) error {
	return func(s *session) error {
		if s.n <= n {
			if errors.Is(err, http.ErrAbortHandler) {
				panic(err)
			}
			return err
		}
		return plainTurn("fine")(s)
	}
}

func withRetryInfo(after time.Duration) error {
	e := connect.NewError(connect.CodeFailedPrecondition, errors.New("Error"))
	info, err := proto.Marshal(&pb.RetryInfo{RetryDelay: durationpb.New(after)})
	if err != nil {
		return err
	}
	d, err := connect.NewErrorDetail(&anypb.Any{TypeUrl: "type.googleapis.com/google.rpc.RetryInfo", Value: info})
	if err != nil {
		return err
	}
	e.AddDetail(d)
	return e
}

// One request costs a bounded number of runs, and a passing fault is not seen
// by the client while it has seen nothing else.
func TestRS6_RetriesAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		fails int
		err   error
		runs  int
		kind  chat.Kind // of the error in the end
		ok    bool
	}{
		"unavailable once":    {1, failure(connect.CodeUnavailable), 2, 0, true},
		"reset twice":         {2, http.ErrAbortHandler, 3, 0, true},
		"clean end too early": {1, errors.Join(), 2, 0, true},
		"down for good":       {9, failure(connect.CodeUnavailable), 3, chat.Overloaded, false},
		"broken for good":     {9, http.ErrAbortHandler, 3, chat.BadGateway, false},
		"our fault":           {9, failure(connect.CodeInvalidArgument), 1, chat.Invalid, false},
		"unknown model":       {9, failure(connect.CodeNotFound), 1, chat.NotFound, false},
		"refused, no reason":  {9, failure(connect.CodeResourceExhausted), 3, chat.Overloaded, false},
		"devices":             {9, connect.NewError(connect.CodeResourceExhausted, errors.New("Too many computers used within the last 24 hours")), 1, chat.QuotaSpent, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, failFirst(c.fails, c.err))
			a := b.ask(t, words("Hi"))
			if c.ok != (a.err == nil && a.text == "fine") || !c.ok && a.err.Kind != c.kind {
				t.Errorf("got %+v", a)
			}
			if n := len(b.service.seen()); n != c.runs {
				t.Errorf("%d runs, want %d", n, c.runs)
			}
		})
	}
}

func TestLoginIsRenewedOnce(t *testing.T) {
	b := newBench(t, failFirst(1, failure(connect.CodeUnauthenticated)))
	if a := b.ask(t, words("Hi")); a.text != "fine" || b.login.renewed.Load() != 1 {
		t.Errorf("got %+v after %d renewals", a, b.login.renewed.Load())
	}
	b = newBench(t, failFirst(9, failure(connect.CodeUnauthenticated)))
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Kind != chat.LoginRequired || b.login.renewed.Load() != 1 {
		t.Errorf("got %+v after %d renewals", a, b.login.renewed.Load())
	}
}

func TestRefusedByStatus(t *testing.T) {
	for status, kind := range map[int]chat.Kind{401: chat.LoginRequired, 464: chat.BadGateway, 429: chat.RateLimited, 404: chat.BadGateway} {
		b := newBench(t, plainTurn("x"))
		b.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			http.Error(w, "<html>no</html>", status)
		})
		if a := b.ask(t, words("Hi")); a.err == nil || a.err.Kind != kind {
			t.Errorf("status %d gave %+v", status, a.err)
		}
	}
}

func TestWrongRegionAsksForTheHostAgain(t *testing.T) {
	b := newBench(t, failFirst(1, connect.NewError(connect.CodeUnavailable, errors.New("This region is not available for your team"))))
	if a := b.ask(t, words("Hi")); a.text != "fine" || b.host.forgot.Load() != 1 {
		t.Errorf("got %+v, forgot %d times", a, b.host.forgot.Load())
	}
}

func TestRetryInfoIsHonoured(t *testing.T) {
	b := newBench(t, failFirst(1, withRetryInfo(30*time.Millisecond)))
	began := time.Now()
	a := b.ask(t, words("Hi"))
	if a.text != "fine" || time.Since(began) < 30*time.Millisecond {
		t.Errorf("got %+v after %v", a, time.Since(began))
	}
}

// A wait that is too long is the client's to decide about.
func TestLongRetryInfoIsPassedOn(t *testing.T) {
	b := newBench(t, failFirst(1, withRetryInfo(time.Hour)))
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.RetryAfter != time.Hour || len(b.service.seen()) != 1 {
		t.Errorf("got %+v", a)
	}
}

// Something in between that cannot speak HTTP/2 is named as the cause.
func TestServerWithoutHTTP2(t *testing.T) {
	b := newBench(t, plainTurn("x"))
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.Config.ErrorLog = b.server.Config.ErrorLog
	old.StartTLS()
	defer old.Close()
	b.host.origin = old.URL
	b.cfg.Transport = NewTransport(&http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}})
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Code != CodeHTTP2 {
		t.Errorf("got %v: %v", a.err, errors.Unwrap(a.err))
	}
}

func TestUntrustedCertificate(t *testing.T) {
	b := newBench(t, plainTurn("x"))
	b.cfg.Transport = NewTransport(&http.Transport{})
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Code != "certificate_untrusted" || b.service.live.Load() != 0 {
		t.Errorf("got %v", a.err)
	}
}

func TestUnreachable(t *testing.T) {
	b := newBench(t, plainTurn("x"))
	b.host.origin = "https://127.0.0.1:1"
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Kind != chat.BadGateway || a.err.Code != "cursor_unreachable" {
		t.Errorf("got %+v", a.err)
	}
}

// A conversation that the service can no longer read begins anew: first with
// the history in blobs, then in words.
func TestRS3_LostBlobMeansAnotherConversation(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if s.n == 2 || s.n == 3 {
			return connect.NewError(connect.CodeInternal, errors.New("Blob not found"))
		}
		if err := s.say("fine"); err != nil {
			return err
		}
		if err := s.checkpoint(used(1, 2)); err != nil {
			return err
		}
		return s.end(nil)
	})
	req := words("Hi")
	a := b.ask(t, req)
	a2 := b.ask(t, with(req, a, chat.Text{Text: "and?"}))
	if a2.text != "fine" {
		t.Fatalf("got %+v", a2)
	}
	runs := b.service.seen()
	if len(runs) != 4 {
		t.Fatalf("%d runs", len(runs))
	}
	ids := map[string]bool{}
	for _, r := range runs[1:] {
		ids[r.GetConversationId()] = true
	}
	if len(ids) != 3 || runs[0].GetConversationId() != runs[1].GetConversationId() {
		t.Errorf("the ids of the conversation were %v", ids)
	}
	if len(runs[2].GetConversationState()) == 0 || len(runs[3].GetConversationState()) != 0 {
		t.Error("the history was not sent in blobs and then in words")
	}
}

// A run that breaks off goes on from a checkpoint that has all that was shown.
func TestInterruptedRunResumes(t *testing.T) {
	state := &pb.ConversationStateStructure{PreviousWorkspaceUris: []string{"file:///x"}}
	b := newBench(t, func(s *session) error {
		if s.n == 1 {
			if err := s.say("one "); err != nil {
				return err
			}
			if err := s.checkpoint(state); err != nil {
				return err
			}
			panic(http.ErrAbortHandler)
		}
		return plainTurn("two")(s)
	})
	a := b.ask(t, words("Hi"))
	runs := b.service.seen()
	if len(runs) != 2 || runs[1].GetAction().GetResumeAction() == nil || runs[1].GetConversationId() != runs[0].GetConversationId() ||
		len(runs[1].GetConversationState()) == 0 {
		t.Fatalf("%d runs, the last %v", len(runs), runs[len(runs)-1])
	}
	if a.text != "one two" || a.finish == nil {
		t.Errorf("got %+v", a)
	}
}

// What was shown after the checkpoint would be said twice.
func TestInterruptedRunIsAnErrorIfTheCheckpointIsOlder(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if err := s.checkpoint(&pb.ConversationStateStructure{}); err != nil {
			return err
		}
		if err := s.say("one "); err != nil {
			return err
		}
		return failure(connect.CodeUnavailable)
	})
	a := b.ask(t, words("Hi"))
	if a.text != "one " || a.err == nil || len(b.service.seen()) != 1 {
		t.Errorf("got %+v after %d runs", a, len(b.service.seen()))
	}
}

func TestCancelEndsThePauseBetweenRuns(t *testing.T) {
	b := newBench(t, failFirst(9, failure(connect.CodeUnavailable)), func(_ *Config, times *timing) {
		times.pause, times.maxPause = time.Hour, time.Hour
		times.maxWait = 2 * time.Hour
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	a := collect(b.Chat(ctx, words("Hi")))
	if a.err == nil || a.err.Kind != chat.Canceled {
		t.Errorf("got %+v", a)
	}
}

func TestBudget(t *testing.T) {
	for name, c := range map[string]struct {
		remedies []remedy
		want     []bool
	}{
		"time":                 {[]remedy{waitAndTry, waitAndTry, waitAndTry}, []bool{true, true, false}},
		"nothing helps":        {[]remedy{giveUp}, []bool{false}},
		"one login":            {[]remedy{renewLogin, renewLogin}, []bool{true, false}},
		"one host":             {[]remedy{askHost, askHost}, []bool{true, false}},
		"together they are 3":  {[]remedy{renewLogin, waitAndTry, rebuild}, []bool{true, true, false}},
		"blobs and then words": {[]remedy{rebuild, rebuild, rebuild}, []bool{true, true, false}},
	} {
		var got []bool
		b := budget{times: defaultTiming()}
		for _, r := range c.remedies {
			b.runs++
			got = append(got, b.allows(r))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
