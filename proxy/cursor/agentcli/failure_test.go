package agentcli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// ended is the failure of a process that printed something and ended.
func ended(stdout string, x exit) *failure {
	p := newParser(redaction{home: "/srv/people/ann", secrets: []string{"hunter2hunter2"}})
	discard := func(event) bool { return true }
	for line := range strings.SplitSeq(stdout, "\n") {
		p.line([]byte(line), discard)
	}
	var fail *failure
	p.end(x, func(e event) bool { fail = e.fail; return true })
	return fail
}

func TestFailurePhrases(t *testing.T) {
	for class, texts := range map[string][]string{
		classQuota: {
			"Error: You've hit your usage limit", "You have reached the free requests limit.", "Spend limit reached",
			"Please UPGRADE TO PRO to continue", "[resource_exhausted] usage limit", "rate limit: usage limit reached",
		},
		classDevices: {"[resource_exhausted] Too many computers used within the last 24 hours", "rate limit: too many computers"},
		classAuth: {
			"Authentication required. Please run 'agent login' first", "Not logged in", "User is not authenticated",
			"please run agent login", "Please run 'cursor-agent login'", "run \"agent login\"", "run `cursor-agent login`",
			"401 Unauthorized", "[unauthenticated] Error", "The provided API key is invalid.", "Invalid API key",
		},
		classModel: {
			"Cannot use this model: gpt-9. Available models: auto", "AI Model Not Found", "model name is not valid",
			"Invalid model: x", "This model is not available to you", "Model not available",
		},
		classTrust:    {"⚠ Workspace Trust Required", "workspace trust required"},
		classOutdated: {"Please update to the latest version of Cursor", "error: unknown option '--trust'", "error: unknown command 'x'"},
		classConfigRace: {
			"Error: ENOENT: no such file or directory, rename '/home/dev/.cursor/cli-config.json.tmp' -> '/x'",
			"EPERM: operation not permitted, open 'C:\\Users\\dev\\.cursor\\cli-config.json'", "EBUSY: resource busy, cli-config.json",
		},
		classRateLimit:     {"rate limit exceeded", "rate_limit", "rate-limit", "ratelimited", "Too many requests", "HTTP 429", "status=429."},
		classOverloaded:    {"[resource_exhausted] Error", "The service is overloaded"},
		classPromptTooLong: {"argument list too long", "spawn E2BIG", "spawn ENAMETOOLONG", "The command line is too long.", "The filename or extension is too long."},
		classNetwork: {
			"connect ECONNREFUSED 127.0.0.1:443", "read ECONNRESET", "getaddrinfo ENOTFOUND api2.cursor.sh", "ETIMEDOUT", "EAI_AGAIN",
			"TypeError: fetch failed", "socket hang up", "RetriableError: [unavailable] x", "[deadline_exceeded]", "[canceled]", "stream closed",
			"Connection reset by peer", "connection stalled", "connection closed", "connection lost", "connection failed", "Network error",
		},
		classUnknown: {
			"the author of this module", "error 4290", "unauthorizedness", "E2BIGGER", "ENOENT: config.json", "rate of limitation",
			"connection ok", "ENOENT\ncli-config.json on another line", "something broke", "",
		},
	} {
		for _, text := range texts {
			if got := ended("", exit{code: 1, stderr: []byte(text)}); got.class != class {
				t.Errorf("%q: class %s, want %s", text, got.class, class)
			}
		}
	}
}

func TestFailureByExit(t *testing.T) {
	for _, c := range []struct {
		name  string
		x     exit
		class string
	}{
		{"code 0", exit{}, classIncomplete},
		{"code 1", exit{code: 1}, classUnknown},
		{"code 126", exit{code: 126}, classNotFound},
		{"code 127", exit{code: 127}, classNotFound},
		{"code 137", exit{code: 137}, classKilled},
		{"code 139", exit{code: 139}, classKilled},
		{"code 143", exit{code: 143}, classKilled},
		{"signal", exit{code: -1, signal: "SIGKILL"}, classKilled},
		{"our limit", exit{code: -1, signal: "SIGTERM", timeout: true}, classTimeout},
		{"ended by us", exit{code: -1, signal: "SIGTERM", byUs: true}, classIncomplete},
		{"no such program", exit{code: -1, startErr: fmt.Errorf("start: %w", fs.ErrNotExist)}, classNotFound},
		{"not in PATH", exit{code: -1, startErr: exec.ErrNotFound}, classNotFound},
		{"not executable", exit{code: -1, startErr: fs.ErrPermission}, classNotFound},
		{"too long for the system", exit{code: -1, startErr: errors.New("fork/exec x: argument list too long")}, classPromptTooLong},
		{"other start error", exit{code: -1, startErr: errors.New("fork: cannot allocate memory")}, classUnknown},
		{"a limit of ours, and a known reason", exit{timeout: true, stderr: []byte("Authentication required")}, classAuth},
	} {
		if got := ended("", c.x); got.class != c.class {
			t.Errorf("%s: class %s, want %s", c.name, got.class, c.class)
		}
	}
}

// TestFailureSources shows where reasons are looked for, and in which order.
func TestFailureSources(t *testing.T) {
	for _, c := range []struct {
		name   string
		stdout string
		stderr string
		class  string
		reason string
	}{
		{"result before all else", `{"type":"error","message":"usage limit"}` + "\n" + `{"type":"result","is_error":true,"result":"rate limit"}`, "", classRateLimit, "rate limit"},
		{"a former event explains an unclear result", `{"type":"error","message":"usage limit"}` + "\n" + `{"type":"result","subtype":"error","error":"crashed"}`, "", classQuota, "usage limit"},
		{"event before stderr", `{"type":"error","error":{"message":"usage limit"}}`, "ECONNRESET", classQuota, "usage limit"},
		{"system error", `{"type":"system","subtype":"error","detail":"fetch failed"}`, "", classNetwork, "fetch failed"},
		{"event that nobody knows", `{"type":"error","message":"odd"}`, "", classUpstream, "odd"},
		{"stderr before stdout", "workspace trust required", "rate limit", classRateLimit, "rate limit"},
		{"stdout at last", "workspace trust required", "hm", classTrust, "workspace trust required"},
		{"JSON on stderr is not searched", "", `{"type":"assistant","text":"usage limit"}` + "\nplain", classUnknown, "plain"},
		{"nor is cut JSON", "", `{"type":"assistant","text":"usage limi` + "\n", classUnknown, ""},
		{"nor a broken event on stdout", `{"type":"assistant","text":"rate limit`, "", classUnknown, ""},
		{"nor the answer", `{"type":"thinking","text":"rate limit","timestamp_ms":1}`, "", classUnknown, ""},
		{"nor an event behind other words", "", `[12:00] {"type":"assistant","text":"usage limit"}`, classUnknown, ""},
		{"nor the piece of an event", "", `nt":[{"type":"text","text":"usage limit"}]}}`, classUnknown, ""},
		{"nor such a piece on stdout", `x{"type":"assistant","message":{"content":[{"type":"text","text":"rate limit`, "", classUnknown, ""},
		{"plain text behind an event may be the answer", `{"type":"system","session_id":"s"}` + "\nsome words of it", "", classUnknown, ""},
		{"plain text in front of it may not", "T: this model is not for you", "", classUnknown, "T: this model is not for you"},
		{"a known phrase on stdout is shown without its surroundings", "Error: rate limit\nsome words of it", "", classRateLimit, "Error: rate limit"},
		{"a result that repeats the answer is no reason", delta("The rate limit is a law.") + "\n" + `{"type":"result","is_error":true,"result":"The rate limit is a law. So"}`, "", classUpstream, ""},
		{"a result that says something else is one", delta("The law.") + "\n" + `{"type":"result","is_error":true,"result":"rate limit"}`, "", classRateLimit, "rate limit"},
		{"colours", "", "\x1b[31mError: \x1b[1musage\x1b[0m limit\x1b[0m\n", classQuota, "Error: usage limit"},
		{"from the line of the phrase on", "", "warning: old\nusage limit reached\nresets soon\n", classQuota, "usage limit reached resets soon"},
	} {
		var got *failure
		p := newParser(redaction{})
		emit := func(e event) bool { got = e.fail; return true }
		for line := range strings.SplitSeq(c.stdout, "\n") {
			p.line([]byte(line), emit)
		}
		p.end(exit{code: 1, stderr: []byte(c.stderr)}, emit)
		if got == nil || got.class != c.class || got.reason != c.reason {
			t.Errorf("%s: got %+v, want %s %q", c.name, got, c.class, c.reason)
		}
	}
}

// TestSE1_NothingOfTheAnswerInLogsAndErrors prints the answer in every place where
// the CLI has been seen to, and some more.
func TestSE1_NothingOfTheAnswerInLogsAndErrors(t *testing.T) {
	const words = "PURPLE-ELEPHANT"
	event := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + words + `"}]},"session_id":"s"`
	lines := []string{
		`{"type":"system","subtype":"init","session_id":"s","model":"Auto"}`,
		words, "Answer: " + words, event[:len(event)-20], "stdout= " + event, "[debug] " + event + ",\"timestamp_ms\":1}", event + `,"timestamp_ms":1}`, words, words,
	}
	for _, tt := range []struct {
		name, stderr, last string
		code               int
	}{
		{"no result", "", "", 1},
		{"no result, no error", "", "", 0},
		{"events on stderr", event + "}\n[1] " + event + "}\n" + event[10:], "", 1},
		{"a failed result", "", `{"type":"result","subtype":"error","is_error":true,"result":"` + words + `"}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.ndjson")
			text := strings.Join(append(lines, tt.last), "\n")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			end := fmt.Sprintf(`{"process":{"exit_code":%d,"stderr":%s}}`, tt.code, quoteJSON(tt.stderr))
			if err := os.WriteFile(strings.Replace(file, ".ndjson", ".expected.json", 1), []byte(end), 0o600); err != nil {
				t.Fatal(err)
			}
			var log lockedBuffer
			r := newRig(t, agentsim.Script{Mode: agentsim.Replay, Fixture: file}, func(c *Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			tr := listen(t.Context(), r, hello(), nil)
			r.Close()
			if tr.err == nil || !strings.Contains(tr.text(), words) {
				t.Fatalf("text %q, error %v", tr.text(), tr.err)
			}
			if strings.Contains(log.String(), words) || strings.Contains(tr.err.Error(), words) {
				t.Errorf("error %v, log:\n%s", tr.err, log.String())
			}
			if n := strings.Count(log.String(), "no events"); n != 1 {
				t.Errorf("%d entries about noise:\n%s", n, log.String())
			}
		})
	}
}

// TestFailureStatus holds the classes to the statuses that front-ends give to
// the kinds of errors.
func TestFailureStatus(t *testing.T) {
	status := map[chat.Kind]int{
		chat.Internal: 500, chat.Invalid: 400, chat.LoginRequired: 403, chat.NotInPlan: 402, chat.QuotaSpent: 402, chat.NotFound: 404,
		chat.TooLong: 400, chat.TooLarge: 413, chat.RateLimited: 429, chat.Overloaded: 503, chat.Unavailable: 503, chat.BadGateway: 502, chat.Timeout: 504,
	}
	for class, want := range map[string]struct {
		status int
		retry  bool
		code   string
	}{
		classQuota: {402, false, ""}, classDevices: {402, false, "too_many_devices"}, classAuth: {403, false, ""}, classModel: {404, false, ""},
		classTrust: {500, false, "cursor_workspace_untrusted"}, classOutdated: {503, false, "cursor_cli_incompatible"},
		classConfigRace: {503, true, "cursor_cli_busy"}, classRateLimit: {429, true, ""}, classOverloaded: {503, true, ""},
		classPromptTooLong: {413, false, ""}, classNetwork: {502, true, "upstream_unreachable"},
		classUpstream: {502, false, "cursor_upstream"}, classKilled: {502, true, "cursor_killed"}, classNotFound: {503, false, "cursor_cli_not_found"},
		classIncomplete: {502, true, "cursor_incomplete"}, classEmpty: {502, true, "cursor_empty"}, classTimeout: {504, true, "cursor_timeout"},
		classUnknown: {502, false, "cursor_unknown"},
	} {
		f := newParser(redaction{}).newFailure(class, "why")
		e := f.chatError("m")
		if f.status != want.status || status[e.Kind] != want.status || f.retryable != want.retry || e.Code != want.code {
			t.Errorf("%s: status %d, kind %v, code %q, retryable %v; want %+v", class, f.status, e.Kind, e.Code, f.retryable, want)
		}
		if !strings.HasSuffix(e.Message, "The CLI said: why") || len(e.Message) < 40 {
			t.Errorf("%s: message %q gives no advice or no reason", class, e.Message)
		}
	}
}

func TestFailureMessageHoldsNoSecret(t *testing.T) {
	text := "Error: failed in /srv/people/ann/x and /home/bob/y and C:\\Users\\carl\\z and /Users/dora/w; " +
		"CURSOR_API_KEY=abcdef123456 Authorization: Bearer abc.def-123 token=\"t0psecret\" key_0123456789abcdef sk-abcdefghijkl0 " +
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln hunter2hunter2 https://u:pw@proxy.example/ " +
		"0123456789abcdef0123456789abcdef0123456789abcdef"
	message := ended("", exit{code: 1, stderr: []byte(text)}).chatError("m").Message
	for _, secret := range []string{
		"ann", "bob", "carl", "dora", "abcdef123456", "abc.def", "t0psecret", "0123456789abcdef", "abcdefghijkl", "eyJ", "c2ln", "hunter2", "u:pw",
	} {
		if strings.Contains(message, secret) {
			t.Errorf("%q is in %q", secret, message)
		}
	}
	if !strings.Contains(message, "~/x") || !strings.Contains(message, "proxy.example") {
		t.Errorf("too much is masked: %q", message)
	}
}

func TestFailureMessageIsShort(t *testing.T) {
	f := ended("", exit{code: 1, stderr: []byte(strings.Repeat("ü ", 5000))})
	if len(f.reason) > maxReason || !utf8.ValidString(f.reason) || !strings.HasSuffix(f.reason, "…") {
		t.Errorf("reason of %d bytes ends in %q", len(f.reason), f.reason[len(f.reason)-10:])
	}
}

func TestFailureHints(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"rate limit, try again in 30 seconds": 30 * time.Second,
		"rate limit; Retry-After: 7":          7 * time.Second,
		"rate limit. Retry after 2 min":       2 * time.Minute,
		"rate limit":                          10 * time.Second,
		"[resource_exhausted]":                5 * time.Second,
		"usage limit, try again in 1 hour":    0,
	} {
		if got := ended("", exit{code: 1, stderr: []byte(text)}).chatError("m").RetryAfter; got != want {
			t.Errorf("%q: retry after %v, want %v", text, got, want)
		}
	}
}

// TestEM1_LimitAndShortageDiffer: the same code means a spent plan only with a
// phrase that says so.
func TestEM1_LimitAndShortageDiffer(t *testing.T) {
	spent := ended("", exit{code: 1, stderr: []byte("[resource_exhausted] You've hit your usage limit. It resets on 1 May.")}).chatError("m")
	if spent.Kind != chat.QuotaSpent || !strings.Contains(spent.Message, "resets on 1 May") {
		t.Errorf("a spent plan gives %v", spent)
	}
	short := ended("", exit{code: 1, stderr: []byte("[resource_exhausted] Error")}).chatError("m")
	if short.Kind != chat.Overloaded || short.RetryAfter == 0 || short.RetryAfter > time.Minute {
		t.Errorf("a shortage gives %v, retry after %v", short, short.RetryAfter)
	}
}

func TestEM3_ErrorIsNoText(t *testing.T) {
	refused := "Cannot use this model: gpt-9. Available models: auto, composer-2, gpt-5.3-codex\n"
	events := replay(t, strings.NewReader(refused), exit{code: 1, stderr: []byte(refused)})
	if len(events) != 1 || events[0].kind != evError {
		t.Fatalf("got %+v", canonical(events))
	}
	e := events[0].fail.chatError("gpt-9")
	if e.Kind != chat.NotFound || !strings.Contains(e.Message, `"gpt-9"`) || !strings.Contains(e.Message, "auto, composer-2, gpt-5.3-codex") {
		t.Errorf("the error must name the model and usable ones: %v", e)
	}
	if e := ended("", exit{code: 1, stderr: []byte("Upgrade to Pro to use gpt-9")}).chatError("gpt-9"); e.Kind != chat.QuotaSpent {
		t.Errorf("a plan without the model gives %v", e)
	}
	empty := run(t, `{"type":"result","subtype":"success","result":""}`)
	if e := last(empty).fail; len(empty) != 1 || e == nil || e.class != classEmpty || e.status != 502 {
		t.Errorf("an empty answer gives %+v", canonical(empty))
	}
}

func TestUsableModels(t *testing.T) {
	many := "Cannot use this model: x. Available models: a1, a2, a3, a4, a5, a6, a7, a8, a9\nTip: <b>"
	if got := usableModels(many); len(got) != 9 || got[8] != "a9" {
		t.Errorf("got %q", got)
	}
	if got := modelAdvice("x", usableModels(many)); !strings.HasSuffix(got, "a8 and more.") {
		t.Errorf("got %q", got)
	}
	if got := modelAdvice("x", nil); !strings.Contains(got, "list of models") {
		t.Errorf("got %q", got)
	}
}
