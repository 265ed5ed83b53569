//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// ending is how a request ends for a client whose first run has a trouble: with
// a whole answer, or with an error.
type ending struct {
	rule   string // what says so: a kind of fault that users of such programs reported, or a chapter of the protocol
	text   string // of the whole answer
	status int    // of an answer that is not streamed; 200 with a text
	shown  string // what a stream has before its error
}

const (
	wholeText = "so farthe end" // the trouble was none
	againText = "again"         // of the second run
)

// endings says it for the troubles of the simulation that need no long silence.
func endings() map[string]ending {
	ends := map[string]ending{"no last envelope, after a checkpoint": {rule: "8.8", text: "so far" + againText}}
	add := func(e ending, names ...string) {
		for _, name := range names {
			ends[name] = e
		}
	}
	// Odd, and no reason not to answer.
	add(ending{rule: "5.2", text: wholeText}, "compressed frames", "empty frames", "frames cut at every byte", "frames joined",
		"no last envelope after the turn's end")
	add(ending{rule: "5.1", text: wholeText}, "GOAWAY")
	add(ending{rule: "5.4", text: wholeText}, "empty texts", "a late blob", "a late checkpoint", "the turn ends twice")
	add(ending{rule: "RS-3", text: wholeText}, "a blob that nobody has", "a checkpoint that is none")
	add(ending{rule: "6.4", text: wholeText}, "an unknown message", "unknown news", "notices and summaries")
	add(ending{rule: "TC-5, 6.5", text: wholeText}, "work of every kind", "unknown work", "work withdrawn", "work without a number", "the context asked twice")
	add(ending{rule: "TC-7", text: wholeText}, "a tool that nobody offers", "arguments as plain text")
	add(ending{rule: "6.7", text: wholeText}, "queries of every kind")
	// Another run answers, as long as nothing was shown.
	add(ending{rule: "RS-6, 5.6", text: againText}, "HTTP 500", "HTTP 503", "aborted", "deadline exceeded", "internal", "unavailable", "unavailable, wait",
		"high load", "bare exhausted", "trailers", "page of a hotel")
	add(ending{rule: "ST-10, TD-4", text: againText}, "connection reset", "no last envelope", "reset before an answer", "stream reset")
	add(ending{rule: "AU-2", text: againText}, "HTTP 401", "HTTP 403", "not logged in", "permission denied")
	add(ending{rule: "RS-3", text: againText}, "blob not found", "image not found")
	add(ending{rule: "SE-3, 5.6", text: againText}, "wrong region")
	// And after that an error does.
	add(ending{rule: "ST-10", status: 502, shown: "so far"}, "aborted, after text", "deadline exceeded, after text", "internal, after text",
		"no last envelope, after text", "stream reset, after text", "wrong region, after text", "blob not found, after text", "image not found, after text",
		"half a frame", "half a head", "an empty last envelope", "a last envelope that is no JSON", "a frame of 70 MiB", "a frame that is no message",
		"a frame that is not compressed")
	add(ending{rule: "EM-1", status: 503, shown: "so far"}, "bare exhausted, after text", "high load, after text", "trailers, after text",
		"unavailable, after text", "unavailable, wait, after text")
	add(ending{rule: "AU-3", status: 403, shown: "so far"}, "not logged in, after text", "permission denied, after text")
	// No run helps.
	for name, status := range map[string]int{
		"outdated client": 502, "failed precondition": 400, "invalid argument": 400, "parse binary": 400, "bad model": 404, "not found": 404,
		"plan lacks model": 402, "usage limit": 402, "too many computers": 402,
	} {
		add(ending{rule: "EM-1, EM-2", status: status}, name)
		add(ending{rule: "EM-1, EM-2", status: status, shown: "so far"}, name+", after text")
	}
	add(ending{rule: "5.1", status: 502}, "HTTP 464")
	add(ending{rule: "EM-1", status: 429}, "HTTP 429")
	return ends
}

// Every trouble ends in the right error or in the right answer, in the eyes of
// a client, streamed or not; each request costs a few runs at most, and the
// service has nothing to complain about.
func TestFaultsOfTheServiceReachTheClientAsTheyShould(t *testing.T) {
	m, sim := loginMachine(t)
	m.loginWithKey(simserver.DefaultKey, "ada@example.com")
	sim.ScriptAlways(simserver.Opening(), simserver.Text(againText))
	instance := m.serve("serve", "--backend", "agent")
	troubles, ends := simserver.Troubles(), endings()
	if len(ends) < 80 {
		t.Errorf("only %d troubles", len(ends))
	}
	for name, want := range ends {
		trouble, ok := troubles[name]
		if !ok {
			t.Errorf("no trouble is named %q", name)
			continue
		}
		for _, stream := range []bool{false, true} {
			if err := sim.Prepare(trouble, false); err != nil {
				t.Fatal(err)
			}
			before := sim.RunStats().Total
			status, body := instance.ask("POST", "/v1/chat/completions", testKey, question("auto", "Say something about "+name, stream))
			if problem := want.differs(status, body, stream); problem != "" {
				t.Errorf("%s (%s), streamed: %t: %s\n%s", name, want.rule, stream, problem, body)
			}
			if runs := sim.RunStats().Total - before; runs > 3 {
				t.Errorf("%s: one request cost %d runs", name, runs)
			}
		}
	}
	until(t, "no run is left", func() bool { return sim.RunStats().Open == 0 })
	for _, v := range sim.Violations() {
		t.Errorf("a rule of the wire is broken: %v", v)
	}
	instance.stop()
}

// differs says what is wrong with an answer, "" for nothing.
func (e ending) differs(status int, body string, stream bool) string {
	if stream && (e.text != "" || e.shown != "") {
		return e.differsStreamed(status, body)
	}
	var answer struct {
		Choices []struct {
			Message struct{ Content string }
			Reason  string `json:"finish_reason"`
		}
		Error *struct{ Message, Type, Code string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return "it is no JSON: " + err.Error()
	}
	switch {
	case e.text != "" && (status != 200 || len(answer.Choices) != 1 || answer.Choices[0].Message.Content != e.text || answer.Choices[0].Reason != "stop"):
		return "it is not the answer " + e.text
	case e.text == "" && (status != e.status || answer.Error == nil || answer.Error.Message == "" || answer.Error.Type == ""):
		return "it is not the whole error that it should be"
	}
	return ""
}

// differsStreamed: a broken stream has its error as an event, and none of the
// signs of a good end.
func (e ending) differsStreamed(status int, body string) string {
	text, reason, failed, done := "", "", false, false
	for line := range strings.SplitSeq(body, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var event struct {
			Choices []struct {
				Delta  struct{ Content string }
				Reason string `json:"finish_reason"`
			}
			Error *struct{ Message, Type string }
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return "an event is no JSON: " + err.Error()
		}
		for _, choice := range event.Choices {
			text += choice.Delta.Content
			reason += choice.Reason
		}
		failed = failed || event.Error != nil && event.Error.Message != "" && event.Error.Type != ""
	}
	switch {
	case status != 200:
		return "the status is not that of a stream"
	case e.text != "" && (text != e.text || reason != "stop" || !done || failed):
		return "it is not the whole answer " + e.text
	case e.text == "" && (text != e.shown || reason != "" || done || !failed):
		return "it is not the text so far and an error"
	}
	return ""
}
