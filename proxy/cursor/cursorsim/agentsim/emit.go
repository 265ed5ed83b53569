package agentsim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// emitter prints the events of one run as the real program does with
// --stream-partial-output: deltas with a timestamp, a message with a
// model_call_id before a tool call, a message with neither at the end.
type emitter struct {
	out     *bufio.Writer
	paced   bool // every delta is a write of its own
	partial bool // deltas were asked for
	session string
	clock   int64           // timestamp_ms of the last event
	call    int             // number of the current model call
	line    []byte          // scratch
	segment strings.Builder // text since the last tool call
	all     strings.Builder // text of the run
	tools   int
}

func newEmitter(w io.Writer, opts options) *emitter {
	session := opts.resume
	if session == "" {
		session = "sim-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	}
	return &emitter{
		out: bufio.NewWriterSize(w, 64<<10), partial: opts.partial,
		session: session, clock: time.Now().UnixMilli(),
	}
}

// open prints the events that come before the answer.
func (e *emitter) open(opts options, model, prompt string) {
	e.object(struct {
		Type           string `json:"type"`
		Subtype        string `json:"subtype"`
		APIKeySource   string `json:"apiKeySource"`
		Cwd            string `json:"cwd"`
		SessionID      string `json:"session_id"`
		Model          string `json:"model"`
		PermissionMode string `json:"permissionMode"`
	}{"system", "init", "login", opts.workspace, e.session, model, "default"})
	e.message("user", prompt, "")
	e.out.Flush()
}

// textDelta prints new text of the answer.
func (e *emitter) textDelta(text string) {
	e.segment.WriteString(text)
	e.all.WriteString(text)
	if e.partial {
		e.delta(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":`, text, `}]},"session_id":"`)
	}
}

// thinkingDelta prints new text of the model's thinking.
func (e *emitter) thinkingDelta(text string) {
	e.delta(`{"type":"thinking","subtype":"delta","text":`, text, `,"session_id":"`)
}

func (e *emitter) thinkingDone() {
	e.line = append(e.line[:0], `{"type":"thinking","subtype":"completed","session_id":"`...)
	e.finishLine()
}

// delta prints one event whose only variable part is its text. Benchmarks live
// on it, hence no reflection.
func (e *emitter) delta(head, text, tail string) {
	e.line = append(e.line[:0], head...)
	e.line = e.appendQuoted(e.line, text)
	e.line = append(e.line, tail...)
	e.finishLine()
}

func (e *emitter) finishLine() {
	e.clock++
	e.line = append(e.line, e.session...)
	e.line = append(e.line, `","timestamp_ms":`...)
	e.line = strconv.AppendInt(e.line, e.clock, 10)
	e.line = append(e.line, "}\n"...)
	e.out.Write(e.line)
	if e.paced {
		e.out.Flush()
	}
}

// appendQuoted appends text as a JSON string.
func (e *emitter) appendQuoted(line []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return append(line, encode(text)...)
		}
	}
	line = append(line, '"')
	line = append(line, text...)
	return append(line, '"')
}

// tool prints a call of one of the CLI's own tools, with a pause while it works.
func (e *emitter) tool(kind, args string, work time.Duration) {
	e.tools++
	id := "call-" + strconv.Itoa(e.tools) + `\nfc_` + strconv.Itoa(e.tools)
	callID := "m-" + strconv.Itoa(e.call)
	if e.segment.Len() > 0 {
		e.message("assistant", e.segment.String(), callID)
		e.segment.Reset()
	}
	e.toolEvent("started", id, callID, `"`+kind+`":{"args":`+args+`}`)
	e.out.Flush()
	time.Sleep(work)
	e.toolEvent("completed", id, callID, `"`+kind+`":{"args":`+args+`,"result":{"success":{}}}`)
	e.call++
}

func (e *emitter) toolEvent(subtype, id, modelCall, payload string) {
	e.line = append(e.line[:0], `{"type":"tool_call","subtype":"`+subtype+`","call_id":"`+id+`","tool_call":{`+payload...)
	e.line = append(e.line, `,"toolCallId":"`+id+`"},"model_call_id":"`+modelCall+`","session_id":"`...)
	e.finishLine()
}

// message prints a whole message. With a model call id it also has a timestamp.
func (e *emitter) message(role, text, modelCall string) {
	e.line = append(e.line[:0], `{"type":"`+role+`","message":{"role":"`+role+`","content":[{"type":"text","text":`...)
	e.line = e.appendQuoted(e.line, text)
	e.line = append(e.line, `}]},"session_id":"`+e.session+`"`...)
	if modelCall != "" {
		e.clock++
		e.line = append(e.line, `,"model_call_id":"`+modelCall+`","timestamp_ms":`...)
		e.line = strconv.AppendInt(e.line, e.clock, 10)
	}
	e.line = append(e.line, "}\n"...)
	e.out.Write(e.line)
}

// usage is what the result event reports.
type usage struct {
	Input      int `json:"inputTokens"`
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cacheReadTokens"`
	CacheWrite int `json:"cacheWriteTokens"`
	Reasoning  int `json:"reasoningTokens,omitempty"`
}

// close prints the closing message and the result.
func (e *emitter) close(u *usage) error {
	if e.segment.Len() > 0 {
		e.message("assistant", e.segment.String(), "")
	}
	e.line = append(e.line[:0], `{"type":"result","subtype":"success","duration_ms":900,"duration_api_ms":900,"is_error":false,"result":`...)
	e.line = e.appendQuoted(e.line, e.all.String())
	e.line = append(e.line, `,"session_id":"`+e.session+`","request_id":"sim"`...)
	if u != nil {
		e.line = append(append(e.line, `,"usage":`...), encode(u)...)
	}
	e.line = append(e.line, "}\n"...)
	e.out.Write(e.line)
	return e.out.Flush()
}

// object prints an event of a shape that no benchmark repeats.
func (e *emitter) object(event any) { e.out.Write(append(encode(event), '\n')) }

// encode is JSON as the real program's JavaScript writes it: without escapes for
// HTML. The values are the fake's own.
func encode(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
