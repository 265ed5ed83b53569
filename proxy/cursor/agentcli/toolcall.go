package agentcli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// calls keeps book on the CLI's own tool calls of one run.
type calls struct {
	byID    map[string]*ownCall
	open    []*ownCall // started, not completed; oldest first
	unnamed int        // starts that came without an id
}

// ownCall is one call. It is issued once its arguments are there.
type ownCall struct {
	id, name string
	issued   bool
	done     bool
	limit    time.Duration // a shell call's own time limit
}

func (c *calls) working() (open bool, limit time.Duration) {
	for _, call := range c.open {
		limit = max(limit, call.limit)
	}
	return len(c.open) > 0, limit
}

// start returns the call of an id, a new one if it was never seen or is "".
func (c *calls) start(id string) *ownCall {
	if id == "" {
		c.unnamed++
		id = fmt.Sprintf("call_%d", c.unnamed)
	}
	call := c.byID[id]
	if call == nil {
		call = c.add(id)
		c.open = append(c.open, call)
	}
	return call
}

func (c *calls) add(id string) *ownCall {
	if c.byID == nil {
		c.byID = make(map[string]*ownCall)
	}
	call := &ownCall{id: id, name: unnamedTool}
	c.byID[id] = call
	return call
}

// complete closes the call of an id, or of no id the oldest open one of that
// name. It returns nil for a completion that says nothing new.
func (c *calls) complete(id, name string) *ownCall {
	var call *ownCall
	if id != "" {
		if call = c.byID[id]; call == nil {
			call = c.add(id)
			call.issued = true // its start was never seen and is not made up
		}
	} else if i := slices.IndexFunc(c.open, func(o *ownCall) bool { return o.name == name }); i >= 0 {
		call = c.open[i]
	}
	if call == nil || call.done {
		return nil
	}
	call.done = true
	c.open = slices.DeleteFunc(c.open, func(o *ownCall) bool { return o == call })
	return call
}

// toolCall handles a tool_call line. A start closes the text segment; other
// subtypes than the two known ones say nothing we need.
func (p *parser) toolCall(f fields, emit func(event) bool) bool {
	payload := f.object("tool_call")
	load := readPayload(payload)
	id := callID(f, payload)
	switch f.str("subtype") {
	case "", "started":
		p.tracker.Reset()
		return p.issueCall(p.calls.start(id), load, emit)
	case "completed":
		call := p.calls.complete(id, load.name)
		if call == nil {
			return true
		}
		if load.args == nil {
			load.args = json.RawMessage("{}")
		}
		if !p.issueCall(call, load, emit) {
			return false
		}
		p.spoke = true
		return p.send(event{kind: evToolCompleted, id: call.id, name: call.name, status: load.status}, emit)
	}
	return true
}

// issueCall issues the start of a call unless that happened already or its
// arguments are still to come: an early announcement may lack them.
func (p *parser) issueCall(call *ownCall, load toolPayload, emit func(event) bool) bool {
	if call.name == unnamedTool {
		call.name = load.name
	}
	if call.issued || load.args == nil {
		return true
	}
	call.issued = true
	call.limit = load.limit
	p.spoke = true
	return p.send(event{kind: evToolStarted, id: call.id, name: call.name, args: load.args}, emit)
}

// callID finds a call's id. One field can hold two ids on two lines, of which
// the first is the CLI's own.
func callID(f, payload fields) string {
	for _, id := range []string{f.str("call_id"), payload.str("toolCallId"), payload.str("id")} {
		id, _, _ = strings.Cut(strings.TrimSpace(id), "\n")
		if id = strings.TrimSpace(id); id != "" {
			return id
		}
	}
	return ""
}

// unnamedTool stands for the name of a call whose kind is not recognisable.
const unnamedTool = "tool"

// toolPayload is what is needed of a tool_call object.
type toolPayload struct {
	name   string
	args   json.RawMessage // a copy; nil when there is no arguments object
	status toolStatus
	limit  time.Duration
}

// readPayload reads the three shapes that have been seen: a key like
// "readToolCall", OpenAI's "function", and a flat name with its input.
func readPayload(f fields) toolPayload {
	load := toolPayload{name: unnamedTool}
	var result fields
	if key, value := kindOf(f); key != "" {
		stem := strings.TrimSuffix(key, kindSuffix)
		load.name = strings.ToLower(stem[:1]) + stem[1:]
		load.args = argsOf(value, "args", "input")
		result = value.object("result")
	} else if function := f.object("function"); function != nil {
		load.name = nameOr(function.str("name"))
		load.args = functionArgs(function["arguments"])
		result = function.object("result")
	} else {
		load.name = nameOr(f.str("name"))
		load.args = argsOf(f, "input", "args")
	}
	if result == nil {
		result = f.object("result")
	}
	load.status = statusOf(result)
	load.limit = limitOf(load.args)
	return load
}

const kindSuffix = "ToolCall"

// kindOf finds the key that names the kind. Should there be several, the
// choice must not depend on the order of a map.
func kindOf(f fields) (key string, value fields) {
	for k, v := range f {
		if len(k) > len(kindSuffix) && strings.HasSuffix(k, kindSuffix) && v.is('{') && (key == "" || k < key) {
			key = k
		}
	}
	return key, f.object(key)
}

func nameOr(name string) string {
	if name == "" {
		return unnamedTool
	}
	return name
}

func argsOf(f fields, keys ...string) json.RawMessage {
	for _, key := range keys {
		if f[key].is('{') {
			return copyJSON(f[key])
		}
	}
	return nil
}

// functionArgs reads arguments that should be an object in a string. Whatever
// else the string holds becomes the one argument "value".
func functionArgs(r raw) json.RawMessage {
	if r.is('{') {
		return copyJSON(r)
	}
	if !r.is('"') {
		return nil
	}
	text := strings.TrimSpace(r.str())
	switch {
	case text == "":
		return json.RawMessage("{}")
	case !json.Valid([]byte(text)):
		return json.RawMessage(`{"value":` + string(quoteJSON(r.str())) + `}`)
	case text[0] != '{':
		return json.RawMessage(`{"value":` + text + `}`)
	}
	return copyJSON(raw(text))
}

// copyJSON detaches a value from its line and makes it valid UTF-8, which
// JSON syntax alone does not demand.
func copyJSON(r raw) json.RawMessage {
	return bytes.ToValidUTF8(bytes.Clone(r), []byte("\ufffd"))
}

// statusOf reads the wrapper around a result. Without one the outcome is
// unknown.
func statusOf(result fields) toolStatus {
	has := func(key string) bool { r, ok := result[key]; return ok && string(r) != "null" }
	switch {
	case has("rejected"):
		return statusRejected
	case has("error"), has("failure"):
		return statusError
	case has("success"):
		return statusSuccess
	}
	return statusUnknown
}

// limitOf reads the time limit in milliseconds that shell calls give
// themselves.
func limitOf(args json.RawMessage) time.Duration {
	ms, err := strconv.Atoi(string(raw(args).object()["timeout"]))
	const day = 24 * 60 * 60 * 1000
	if err != nil || ms < 0 || ms > day {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
