package agentrpc

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// detailed is an end of a stream as recorded: the message says nothing.
func detailed(code, reason, title, detail string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"Error","details":[{"type":"aiserver.v1.ErrorDetails","value":"CAE",`+
		`"debug":{"error":%q,"details":{"title":%q,"detail":%q,"isRetryable":false},"isExpected":true}}]}}`, code, reason, title, detail)
}

func bare(code string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"Error"}}`, code)
}

// The details decide what a code means.
func TestEM1_EndStreamErrors(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		kind    chat.Kind
		remedy  remedy
		says    string
	}{
		"spent plan":          {detailed("resource_exhausted", "ERROR_RATE_LIMITED_CHANGEABLE", "You've hit your usage limit", "Resets on May 3."), chat.QuotaSpent, giveUp, "Resets on May 3."},
		"busy":                {detailed("resource_exhausted", "ERROR_RESOURCE_EXHAUSTED", "High Load", "Try later."), chat.Overloaded, waitAndTry, "High Load"},
		"nothing but a code":  {bare("resource_exhausted"), chat.Overloaded, rebuild, "without a reason"},
		"devices":             {`{"error":{"code":"resource_exhausted","message":"Too many computers used within the last 24 hours"}}`, chat.QuotaSpent, giveUp, "24 hours"},
		"plan lacks it":       {detailed("resource_exhausted", "ERROR_X", "Named models unavailable", "Free plans can only use Auto."), chat.NotInPlan, giveUp, "Auto"},
		"login":               {bare("unauthenticated"), chat.LoginRequired, renewLogin, "log in again"},
		"forbidden":           {bare("permission_denied"), chat.LoginRequired, renewLogin, "refuses this account"},
		"no such model":       {bare("not_found"), chat.NotFound, giveUp, "does not know this model"},
		"bad model name":      {detailed("invalid_argument", "ERROR_BAD_MODEL_NAME", "", ""), chat.NotFound, giveUp, "does not know this model"},
		"too old":             {detailed("failed_precondition", "ERROR_OUTDATED_CLIENT", "Update", ""), chat.BadGateway, giveUp, "client version"},
		"our fault":           {bare("invalid_argument"), chat.Invalid, giveUp, "refuses the request"},
		"unreadable":          {`{"error":{"code":"internal","message":"parse binary: illegal tag"}}`, chat.Invalid, giveUp, "refuses"},
		"unavailable":         {bare("unavailable"), chat.Overloaded, waitAndTry, "not available"},
		"internal":            {bare("internal"), chat.BadGateway, waitAndTry, "an error of its own"},
		"aborted":             {bare("aborted"), chat.BadGateway, waitAndTry, ""},
		"deadline":            {bare("deadline_exceeded"), chat.BadGateway, waitAndTry, ""},
		"blob":                {`{"error":{"code":"internal","message":"Blob not found"}}`, chat.BadGateway, rebuild, ""},
		"region":              {`{"error":{"code":"unavailable","message":"This region is not available for your team"}}`, chat.BadGateway, askHost, ""},
		"code of the future":  {bare("sleepy"), chat.BadGateway, giveUp, ""},
		"no code":             {`{"error":{}}`, chat.BadGateway, giveUp, ""},
		"no JSON":             {`<html>`, chat.BadGateway, giveUp, ""},
		"another shape":       {`{"error":"x"}`, chat.BadGateway, giveUp, ""},
		"another model":       {`{"error":{"code":"unavailable","message":"Error","details":[{"type":"t","debug":{"x":{"autoSwitchToModel":"auto-1"}}}]}}`, chat.Overloaded, waitAndTry, "auto-1"},
		"too long":            {detailed("invalid_argument", "ERROR_CONVERSATION_TOO_LONG", "Too long", ""), chat.TooLong, giveUp, "does not fit"},
		"control characters":  {`{"error":{"code":"unavailable","message":"a\u0007\nb"}}`, chat.Overloaded, waitAndTry, "a b"},
		"retry by their word": {strings.Replace(detailed("invalid_argument", "E", "t", ""), `"isRetryable":false`, `"isRetryable":true`, 1), chat.Invalid, waitAndTry, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := parseEndStream([]byte(c.payload))
			if r == nil {
				t.Fatal("taken for success")
			}
			f := r.classify()
			if f.err.Kind != c.kind || f.remedy != c.remedy {
				t.Errorf("kind %v, remedy %d; want %v, %d", f.err.Kind, f.remedy, c.kind, c.remedy)
			}
			if !strings.Contains(f.err.Message, c.says) {
				t.Errorf("the message %q lacks %q", f.err.Message, c.says)
			}
		})
	}
	for _, good := range []string{`{}`, `{"metadata":{"a":["b"]}}`, `{"error":null}`} {
		if r := parseEndStream([]byte(good)); r != nil {
			t.Errorf("%s is an error: %v", good, r)
		}
	}
}

func TestEndStreamRetryInfo(t *testing.T) {
	info, err := proto.Marshal(&cursorpb.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{base64.StdEncoding.EncodeToString(info), base64.RawStdEncoding.EncodeToString(info)} {
		f := parseEndStream(fmt.Appendf(nil, `{"error":{"code":"unavailable","details":[{"type":"google.rpc.RetryInfo","value":%q}]}}`, value)).classify()
		if f.wait != 7*time.Second || f.err.RetryAfter != 7*time.Second || f.remedy != waitAndTry {
			t.Errorf("%s: wait %v, retry after %v, remedy %d", value, f.wait, f.err.RetryAfter, f.remedy)
		}
	}
}

// What is in between speaks in statuses and in any form.
func TestEM2_AnswersThatAreNoStream(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		kind   chat.Kind
		code   string
		after  time.Duration
	}{
		"page":              {503, nil, "<html>down</html>", chat.Overloaded, "", overloadPause},
		"empty":             {401, nil, "", chat.LoginRequired, codeLoginEnded, 0},
		"forbidden":         {403, nil, "", chat.LoginRequired, CodeRefused, 0},
		"slow down":         {429, http.Header{"Retry-After": {"12"}}, "{}", chat.RateLimited, "", 12 * time.Second},
		"HTTP/1":            {464, nil, "", chat.BadGateway, CodeHTTP2, 0},
		"bad gateway":       {502, nil, "nginx", chat.BadGateway, "", 0},
		"Connect's own":     {404, nil, `{"code":"not_found","message":"no model"}`, chat.NotFound, CodeModel, 0},
		"no such route":     {404, nil, "404 page not found", chat.BadGateway, "", 0},
		"quota as a status": {429, nil, detailedBody("ERROR_RATE_LIMITED_CHANGEABLE"), chat.QuotaSpent, "", 0},
		"teapot":            {418, nil, "", chat.BadGateway, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := parseStatus(c.status, c.header, []byte(c.body)).classify()
			if f.err.Kind != c.kind || f.err.Code != c.code || f.err.RetryAfter != c.after {
				t.Errorf("kind %v, code %q, after %v; want %v, %q, %v", f.err.Kind, f.err.Code, f.err.RetryAfter, c.kind, c.code, c.after)
			}
			if f.err.Message == "" || strings.Contains(f.err.Message, "<html") {
				t.Errorf("message %q", f.err.Message)
			}
		})
	}
}

func detailedBody(reason string) string {
	return fmt.Sprintf(`{"code":"resource_exhausted","message":"Error","details":[{"type":"aiserver.v1.ErrorDetails","debug":{"error":%q}}]}`, reason)
}

func TestTrailersAreTheSecondChannel(t *testing.T) {
	if r := parseTrailer(http.Header{"Grpc-Status": {"0"}}); r != nil {
		t.Errorf("status 0 is an error: %v", r)
	}
	r := parseTrailer(http.Header{"Grpc-Status": {"16"}, "Grpc-Message": {"log%20in"}})
	if r == nil || r.code != "unauthenticated" || r.text != "log in" {
		t.Errorf("got %+v", r)
	}
}

// The envelopes are found whatever the cuts.
func TestFrameScanner(t *testing.T) {
	stream := "\x00\x00\x00\x00\x03abc" + "\x00\x00\x00\x00\x00" + "\x02\x00\x00\x00\x02{}"
	for size := 1; size <= len(stream); size++ {
		var s frameScanner
		for rest := stream; rest != ""; {
			n := min(size, len(rest))
			if err := s.feed([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if payload, whole := s.endStream(); !whole || string(payload) != "{}" {
			t.Errorf("in pieces of %d: %q, %v", size, payload, whole)
		}
	}
	var s frameScanner
	if err := s.feed([]byte("\x00\x04\x60\x00\x00")); err == nil {
		t.Error("70 MiB were announced and taken")
	}
}

func FuzzEndStream(f *testing.F) {
	f.Add([]byte(detailed("resource_exhausted", "ERROR_RATE_LIMITED_CHANGEABLE", "t", "d")))
	f.Add([]byte(`{"error":{"code":"unavailable","details":[{"type":"google.rpc.RetryInfo","value":"CgIIBw=="}]}}`))
	f.Add([]byte(`{"autoSwitchToModel":["autoSwitchToModel",{"autoSwitchToModel":"m"}],"error":{}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r := parseEndStream(payload)
		if r == nil {
			return
		}
		fault := r.classify()
		if fault.err.Message == "" || fault.err.RetryAfter < 0 || strings.ContainsAny(fault.err.Message, "\r\n\x00") {
			t.Errorf("%q became %+v", payload, fault.err)
		}
	})
}

func FuzzFrameScanner(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x03abc\x03\x00\x00\x00\x02{}"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size < 1 {
			return
		}
		var s, whole frameScanner
		errWhole := whole.feed(stream)
		var err error
		for rest := stream; len(rest) > 0 && err == nil; {
			n := min(size, len(rest))
			err = s.feed(rest[:n])
			rest = rest[n:]
		}
		a, okA := s.endStream()
		b, okB := whole.endStream()
		if (err == nil) != (errWhole == nil) || okA != okB || string(a) != string(b) {
			t.Errorf("cuts changed what was seen")
		}
	})
}
