package agentcli

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"cursortray/proxy/chat"
)

// failure is why a run failed.
type failure struct {
	class     string
	status    int           // the HTTP status that the class amounts to
	retryable bool          // the same request may work now
	advice    string        // instead of that of the class; "" is the class's
	reason    string        // the CLI's own words, masked and cut; may be empty
	usable    []string      // models that the CLI said it would take, with classModel
	after     time.Duration // wait that the CLI asked for; 0 when it named none
}

// Classes that are recognised by what the CLI says.
const (
	classQuota         = "quota"
	classDevices       = "devices"
	classAuth          = "auth"
	classModel         = "model"
	classTrust         = "trust"
	classOutdated      = "outdated"
	classConfigRace    = "config_race"
	classRateLimit     = "rate_limit"
	classOverloaded    = "overloaded"
	classPromptTooLong = "prompt_too_long"
	classNetwork       = "network"
)

// Classes that are recognised by how the run went.
const (
	classUpstream   = "upstream"
	classKilled     = "killed"
	classNotFound   = "cli_not_found"
	classIncomplete = "incomplete"
	classEmpty      = "empty"
	classTimeout    = "timeout"
	classUnknown    = "unknown"
)

// classInfo is what follows from a class.
type classInfo struct {
	kind      chat.Kind
	status    int
	code      string // "" where the front-ends' own code for the kind says as much
	retryable bool
	after     time.Duration // hint when the CLI gives none
	advice    string        // what happened and what to do
}

// info is the one table of classes.
func info(class string) classInfo {
	switch class {
	case classQuota:
		return classInfo{chat.QuotaSpent, 402, "", false, 0,
			"The usage limit of the Cursor plan is reached. Wait for its reset, raise the limit in Cursor's settings, or choose another model."}
	case classDevices:
		return classInfo{chat.QuotaSpent, 402, "too_many_devices", false, 0,
			"Cursor counts too many computers for this account. Use fewer of them, and wait until those of the last 24 hours are forgotten."}
	case classAuth:
		return classInfo{chat.LoginRequired, 403, "", false, 0,
			"Cursor is not logged in. Run `cursor-agent login` in a terminal, or set CURSOR_API_KEY, and try again."}
	case classModel:
		return classInfo{chat.NotFound, 404, "", false, 0, "Cursor's CLI does not take this model."}
	case classTrust:
		return classInfo{chat.Internal, 500, "cursor_workspace_untrusted", false, 0,
			"Cursor's CLI refuses to work in this folder because it is not trusted. Run `cursor-agent` there once and trust it, or update the CLI with `cursor-agent update`."}
	case classOutdated:
		return classInfo{chat.Unavailable, 503, "cursor_cli_incompatible", false, 0,
			"This version of Cursor's CLI does not fit. Update it with `cursor-agent update`, and cursortray too."}
	case classConfigRace:
		return classInfo{chat.Overloaded, 503, "cursor_cli_busy", true, time.Second,
			"Several Cursor CLI processes fought over their settings file. Try again."}
	case classRateLimit:
		return classInfo{chat.RateLimited, 429, "", true, 10 * time.Second, "Cursor limits the rate of requests. Wait a little and try again."}
	case classOverloaded:
		return classInfo{chat.Overloaded, 503, "", true, 5 * time.Second, "Cursor is short of capacity at the moment. Try again, or choose another model."}
	case classPromptTooLong:
		return classInfo{chat.TooLarge, 413, "", false, 0, "The conversation is too large to be handed to Cursor's CLI. Shorten it or start a new one."}
	case classNetwork:
		return classInfo{chat.BadGateway, 502, "upstream_unreachable", true, 0,
			"The connection to Cursor failed. Check the network and any proxy settings, and try again."}
	case classUpstream:
		return classInfo{chat.BadGateway, 502, "cursor_upstream", false, 0, "Cursor reported an error."}
	case classKilled:
		return classInfo{chat.BadGateway, 502, "cursor_killed", true, 0,
			"Cursor's CLI was ended from outside before its answer was complete. Try again; if it happens often, look at the machine's memory."}
	case classNotFound:
		return classInfo{chat.Unavailable, 503, "cursor_cli_not_found", false, 0,
			"Cursor's CLI could not be started. Install it as described on cursor.com/cli, or give its path in CURSORTRAY_CURSOR_AGENT."}
	case classIncomplete:
		return classInfo{chat.BadGateway, 502, "cursor_incomplete", true, 0, "Cursor's CLI stopped before its answer was complete. Try again."}
	case classEmpty:
		return classInfo{chat.BadGateway, 502, "cursor_empty", true, 0, "Cursor answered with nothing at all. Try again, or choose another model."}
	case classTimeout:
		return classInfo{chat.Timeout, 504, "cursor_timeout", true, 0,
			"Cursor's CLI went silent and was ended. Try again; the time limits can be changed in cursortray's settings."}
	}
	return classInfo{chat.BadGateway, 502, "cursor_unknown", false, 0,
		"Cursor's CLI failed. Running `cursor-agent` in a terminal may show why."}
}

// chatError makes the error that the client sees. The message says what to do,
// then what the CLI said. model is the id that the request asked for.
func (f *failure) chatError(model string) *chat.Error {
	about := info(f.class)
	e := &chat.Error{Kind: about.kind, Code: about.code, Message: about.advice, RetryAfter: f.after}
	if e.RetryAfter == 0 {
		e.RetryAfter = about.after
	}
	switch {
	case f.advice != "":
		e.Message = f.advice
	case f.class == classModel:
		e.Message = modelAdvice(model, f.usable)
	}
	if f.reason != "" && len(f.usable) == 0 {
		e.Message += " The CLI said: " + f.reason
	}
	return e
}

// modelAdvice names the model and a few that would do.
func modelAdvice(model string, usable []string) string {
	text := "Cursor's CLI does not take the model " + strconv.Quote(clip(model, maxNamed)) + "."
	if len(usable) == 0 {
		return text + " Choose one of the list of models."
	}
	text += " It takes " + strings.Join(usable[:min(len(usable), 8)], ", ")
	if len(usable) > 8 {
		return text + " and more."
	}
	return text + "."
}

const maxNamed = 100 // of a name from outside in a message

// endFailure classifies a run whose process ended without a result.
func (p *parser) endFailure(x exit) *failure {
	sources := append(p.sources(""), plainLines(x.stderr))
	if x.startErr != nil {
		sources = append([]string{x.startErr.Error()}, sources...)
	}
	class, text := classify(sources)
	if class == "" {
		// A process that failed before its first event may have said why on stdout;
		// later, plain text there could be a part of the answer.
		class, text = p.classifyOutput(text, x.code > 0 && p.session == "" && !p.spoke)
	}
	if class == "" {
		class = p.endClass(x)
	}
	return p.newFailure(class, text)
}

// resultFailure classifies a result that reports an error. What the process
// prints later does not matter any more.
func (p *parser) resultFailure(reason string) *failure {
	if p.tracker.text.begins(reason) { // the result repeats the answer
		reason = ""
	}
	class, text := classify(p.sources(reason))
	if class == "" {
		class, text = p.classifyOutput(text, false)
	}
	if class == "" {
		class = classUpstream
	}
	return p.newFailure(class, text)
}

// classifyOutput looks at the plain text on stdout, where some refusals come. Its
// words replace those from better sources only if they tell a class, or if there
// are none and own says that they cannot be the model's.
func (p *parser) classifyOutput(better string, own bool) (class, text string) {
	class, text = classify([]string{string(p.diverted)})
	switch {
	case class != "" && p.spoke:
		return class, better
	case class != "":
		line, _, _ := strings.Cut(text, "\n")
		return class, line
	case better == "" && own:
		return "", text
	}
	return "", better
}

// sources lists the reasons that came in events, the nearest one first.
func (p *parser) sources(result string) []string { return []string{result, p.reason} }

// endClass looks at how the process ended when nothing it said explains it.
func (p *parser) endClass(x exit) string {
	switch {
	case x.timeout:
		return classTimeout
	case p.reason != "":
		return classUpstream
	case x.startErr != nil:
		if unfit(x.startErr) {
			return classNotFound
		}
		return classUnknown
	case x.byUs:
		return classIncomplete
	case x.signal != "" || x.code == 137 || x.code == 139 || x.code == 143:
		return classKilled
	case x.code == 126 || x.code == 127:
		return classNotFound
	case x.code == 0:
		return classIncomplete
	}
	return classUnknown
}

// newFailure builds a failure of a class from the CLI's own words.
func (p *parser) newFailure(class, text string) *failure {
	about := info(class)
	f := &failure{
		class:     class,
		status:    about.status,
		retryable: about.retryable,
		reason:    p.hide.apply(text),
	}
	if class == classModel {
		f.usable = usableModels(text)
	}
	if class == classRateLimit || class == classOverloaded || class == classConfigRace {
		f.after = retryHint(text)
	}
	return f
}

// plainLines is stderr without terminal codes and without events: a build has
// been seen to repeat them there, and answer text must not be searched for
// reasons, nor be one.
func plainLines(stderr []byte) string {
	var plain []string
	for line := range bytes.Lines(stderr) {
		text := bytes.TrimSpace([]byte(stripANSI(string(line))))
		if len(text) > 0 && !isEvent(text) {
			plain = append(plain, string(text))
		}
	}
	return strings.Join(plain, "\n")
}

// isEvent says whether a line is an event or has a piece of one, whatever was
// printed in front of it.
func isEvent(line []byte) bool {
	if line[0] == '{' && json.Valid(line) {
		return true
	}
	for _, mark := range []string{`"type":"`, `"text":`, `"content":[`, `"message":{`, `"result":"`, `"thinking":"`, `"session_id":`} {
		if bytes.Contains(line, []byte(mark)) {
			return true
		}
	}
	return false
}
