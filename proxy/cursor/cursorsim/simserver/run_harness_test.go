package simserver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/cursor/cursorpb"
)

// bare is a Cursor client on connect, well-behaved until a test edits it. One
// bare is one conversation.
type bare struct {
	model string // "" is the default
	t     *testing.T
	s     *Sim
	http  *http.Client
	token string

	conversation string
	state        []byte
	blobs        map[string][]byte
	tools        []*cursorpb.McpToolDefinition
	result       func(*cursorpb.McpArgs) string // what the tools give

	lingers bool // it does not end its half of the stream
	header  func(http.Header)
	request func(*cursorpb.AgentRunRequest)
	context func(*cursorpb.RequestContext)
	handle  func(*turn, *cursorpb.AgentServerMessage) bool // true: the test has dealt with it
}

func newBare(t *testing.T, s *Sim) *bare {
	return &bare{
		t: t, s: s, http: s.HTTPClient(), token: logIn(t, s).Access, conversation: newUUID(), state: []byte{},
		blobs: map[string][]byte{}, result: func(*cursorpb.McpArgs) string { return "1: first line\n2: second line" },
	}
}

// offer adds a tool with a schema.
func (b *bare) offer(name, schema string) *bare {
	b.t.Helper()
	var v structpb.Value
	if err := v.UnmarshalJSON([]byte(schema)); err != nil {
		b.t.Fatal(err)
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(&v)
	if err != nil {
		b.t.Fatal(err)
	}
	b.tools = append(b.tools, &cursorpb.McpToolDefinition{Name: name, ToolName: name, Description: "a tool", ProviderIdentifier: "cursortray", InputSchema: raw})
	return b
}

const readSchema = `{"type":"object","properties":{"filePath":{"type":"string"}},"required":["filePath"]}`

// turn is one run of a bare client, and what came of it.
type turn struct {
	b      *bare
	ctx    context.Context
	cancel context.CancelFunc
	stream *connect.BidiStreamForClient[cursorpb.AgentClientMessage, cursorpb.AgentServerMessage]

	text, thinking, notices string
	ended                   *cursorpb.TurnEndedUpdate
	beats                   int
	calls                   []*cursorpb.McpArgs
	checkpoints             [][]byte
	kinds                   []string
	err                     error // of the end of the stream, nil for a clean one
	status                  int
	response                *http.Response
	trailer                 http.Header
}

// open opens a run.
func (b *bare) open(prompt string) *turn {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	b.t.Cleanup(cancel)
	t := &turn{b: b, ctx: ctx, cancel: cancel}
	client := cursorpb.NewAgentServiceClient(t, agent, connect.WithCodec(cursorpb.Codec{}))
	t.stream = client.Run(ctx)
	h := t.stream.RequestHeader()
	for name, value := range map[string]string{
		"X-Cursor-Client-Type": "cli", "X-Cursor-Client-Version": "cli-2026.08.25-3e8eec8", "X-Ghost-Mode": "true",
		"X-Cursor-Timezone": "Europe/Berlin", "X-Request-Id": newUUID(), "X-Cursor-Checksum": checksum(time.Now()) + device,
		"Authorization": "Bearer " + b.token, "Te": "trailers", "X-Cursor-Streaming": "true",
	} {
		h.Set(name, value)
	}
	if b.header != nil {
		b.header(h)
	}
	if prompt != "" {
		t.send(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_RunRequest{RunRequest: b.opening(prompt)}})
	}
	return t
}

// Do makes the call and ends the client's half of the stream when the last
// envelope is there: connect itself waits for the server to do it first.
func (t *turn) Do(r *http.Request) (*http.Response, error) {
	answer, err := t.b.http.Do(r)
	if err == nil {
		t.status, t.response = answer.StatusCode, answer
		answer.Body = &download{ReadCloser: answer.Body, envelopes: envelopes{whole: func(flags byte) {
			if flags&flagEndStream != 0 && !t.b.lingers {
				_ = t.stream.CloseRequest()
			}
		}}}
	}
	return answer, err
}

// download sees the envelopes of the server.
type download struct {
	io.ReadCloser
	envelopes
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.scan(p[:n])
	return n, err
}

func (b *bare) opening(prompt string) *cursorpb.AgentRunRequest {
	m := &cursorpb.AgentRunRequest{
		ConversationState: b.state, ConversationId: &b.conversation,
		RequestedModel: &cursorpb.RequestedModel{ModelId: cmp.Or(b.model, "default")},
		McpTools:       &cursorpb.McpTools{McpTools: b.tools},
		Action: &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_UserMessageAction{UserMessageAction: &cursorpb.UserMessageAction{
			UserMessage: &cursorpb.UserMessage{Text: prompt, MessageId: newUUID(), Mode: cursorpb.AgentMode_AGENT_MODE_AGENT},
		}}},
	}
	if b.request != nil {
		b.request(m)
	}
	return m
}

// run plays a whole turn.
func (b *bare) run(prompt string) *turn {
	b.t.Helper()
	return b.open(prompt).play()
}

// leave resets the stream. The end of the context alone does not: while the
// request's body is open, net/http looks at nothing but that.
func (t *turn) leave() {
	t.cancel()
	_ = t.stream.CloseResponse()
}

func (t *turn) send(m *cursorpb.AgentClientMessage) {
	if err := t.stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		t.b.t.Logf("send: %v", err)
	}
}

// play answers until the stream ends.
func (t *turn) play() *turn {
	t.b.t.Helper()
	for t.next() {
	}
	_ = t.stream.CloseRequest()
	_ = t.stream.CloseResponse()
	if t.response != nil {
		t.trailer = t.response.Trailer
	}
	t.cancel()
	return t
}

// next takes one message.
func (t *turn) next() bool {
	m, err := t.stream.Receive()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			t.err = err
		}
		return false
	}
	t.kinds = append(t.kinds, kindOf(m))
	if t.b.handle == nil || !t.b.handle(t, m) {
		t.take(m)
	}
	return true
}

// take does what a client does with a message.
func (t *turn) take(m *cursorpb.AgentServerMessage) {
	switch m := m.GetMessage().(type) {
	case *cursorpb.AgentServerMessage_InteractionUpdate:
		u := m.InteractionUpdate
		if u.GetTextDelta().GetIsServerNotice() {
			t.notices += u.GetTextDelta().GetText()
		} else {
			t.text += u.GetTextDelta().GetText()
		}
		t.thinking += u.GetThinkingDelta().GetText()
		if u.GetHeartbeat() != nil {
			t.beats++
		}
		if u.GetTurnEnded() != nil {
			t.ended = u.GetTurnEnded()
		}
	case *cursorpb.AgentServerMessage_ConversationCheckpointUpdate:
		t.b.state = m.ConversationCheckpointUpdate
		t.checkpoints = append(t.checkpoints, m.ConversationCheckpointUpdate)
	case *cursorpb.AgentServerMessage_KvServerMessage:
		t.send(t.blob(m.KvServerMessage))
	case *cursorpb.AgentServerMessage_ExecServerMessage:
		t.exec(m.ExecServerMessage)
	case *cursorpb.AgentServerMessage_InteractionQuery:
		t.send(refusal(m.InteractionQuery))
	}
}

func (t *turn) blob(m *cursorpb.KvServerMessage) *cursorpb.AgentClientMessage {
	answer := &cursorpb.KvClientMessage{Id: m.GetId()}
	if get := m.GetGetBlobArgs(); get != nil {
		answer.Message = &cursorpb.KvClientMessage_GetBlobResult{GetBlobResult: &cursorpb.GetBlobResult{BlobData: t.b.blobs[string(get.GetBlobId())]}}
	} else {
		t.b.blobs[string(m.GetSetBlobArgs().GetBlobId())] = m.GetSetBlobArgs().GetBlobData()
		answer.Message = &cursorpb.KvClientMessage_SetBlobResult{SetBlobResult: &cursorpb.SetBlobResult{}}
	}
	return &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_KvClientMessage{KvClientMessage: answer}}
}

// exec answers the request context and calls of tools, and refuses the rest.
func (t *turn) exec(m *cursorpb.ExecServerMessage) {
	answer := &cursorpb.ExecClientMessage{Id: m.GetId(), ExecId: m.GetExecId()}
	switch {
	case m.GetRequestContextArgs() != nil:
		no := false
		context := &cursorpb.RequestContext{Tools: t.b.tools, WebSearchEnabled: &no, WebFetchEnabled: &no, Env: &cursorpb.RequestContextEnv{OsVersion: "linux 6.1.0"}}
		if t.b.context != nil {
			t.b.context(context)
		}
		answer.Message = &cursorpb.ExecClientMessage_RequestContextResult{RequestContextResult: &cursorpb.RequestContextResult{
			Result: &cursorpb.RequestContextResult_Success{Success: &cursorpb.RequestContextSuccess{RequestContext: context}},
		}}
	case m.GetMcpArgs() != nil:
		t.calls = append(t.calls, m.GetMcpArgs())
		answer.Message = mcpText(t.b.result(m.GetMcpArgs()))
	default:
		t.throw(m.GetId(), "unsupported", "unknown_exec_variant")
		t.closeExec(m.GetId())
		return
	}
	t.answer(answer)
	t.closeExec(m.GetId())
}

func mcpText(text string) *cursorpb.ExecClientMessage_McpResult {
	return &cursorpb.ExecClientMessage_McpResult{McpResult: &cursorpb.McpResult{Result: &cursorpb.McpResult_Success{Success: &cursorpb.McpSuccess{
		Content: []*cursorpb.McpToolResultContentItem{{Content: &cursorpb.McpToolResultContentItem_Text{Text: &cursorpb.McpTextContent{Text: text}}}},
	}}}}
}

func (t *turn) answer(m *cursorpb.ExecClientMessage) {
	t.send(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ExecClientMessage{ExecClientMessage: m}})
}

func (t *turn) control(m *cursorpb.ExecClientControlMessage) {
	t.send(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ExecClientControlMessage{ExecClientControlMessage: m}})
}

func (t *turn) closeExec(id uint32) {
	t.control(&cursorpb.ExecClientControlMessage{Message: &cursorpb.ExecClientControlMessage_StreamClose{StreamClose: &cursorpb.ExecClientStreamClose{Id: id}}})
}

func (t *turn) throw(id uint32, text, code string) {
	t.control(&cursorpb.ExecClientControlMessage{Message: &cursorpb.ExecClientControlMessage_Throw{Throw: &cursorpb.ExecClientThrow{Id: id, Error: text, ErrorCode: &code}}})
}

func (t *turn) heartbeat() {
	t.send(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ClientHeartbeat{ClientHeartbeat: &cursorpb.ClientHeartbeat{}}})
}

// refusal answers a query in the field of its number.
func refusal(q *cursorpb.InteractionQuery) *cursorpb.AgentClientMessage {
	m := &cursorpb.InteractionResponse{Id: q.GetId()}
	number := queryNumber(q.ProtoReflect(), "query")
	if field := m.ProtoReflect().Descriptor().Fields().ByNumber(number); field != nil {
		answer := m.ProtoReflect().Mutable(field).Message()
		for _, name := range []protoreflect.Name{"rejected", "failure", "success", "result"} {
			if no := answer.Descriptor().Fields().ByName(name); no != nil && no.Message() != nil {
				answer.Mutable(no)
				break
			}
		}
	} else {
		cursorpb.AddEmptyField(m, int32(number))
	}
	return &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_InteractionResponse{InteractionResponse: m}}
}

// kindOf names a message for people.
func kindOf(m *cursorpb.AgentServerMessage) string {
	message := m.ProtoReflect()
	field := message.WhichOneof(message.Descriptor().Oneofs().ByName("message"))
	if field == nil {
		return "nothing"
	}
	if u := m.GetInteractionUpdate(); u != nil {
		if inner := u.ProtoReflect().WhichOneof(u.ProtoReflect().Descriptor().Oneofs().ByName("message")); inner != nil {
			return string(inner.Name())
		}
	}
	return string(field.Name())
}

// awaitEnd returns when n runs have ended, and their records.
func awaitEnd(t *testing.T, s *Sim, n int) []RunRecord {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.AwaitRuns(ctx, func(stats RunStats) bool { return stats.Total >= n && stats.Open == 0 }); err != nil {
		t.Fatalf("%d runs did not end: %+v", n, s.RunStats())
	}
	return s.Runs()
}

func connectAs(err error, as **connect.Error) bool { return errors.As(err, as) }

// broken lists the names of the broken rules, each once, in order.
func broken(t *testing.T, s *Sim) []string {
	t.Helper()
	var rules []string
	for _, v := range s.Violations() {
		if !slices.Contains(rules, v.Rule) {
			rules = append(rules, v.Rule)
		}
	}
	return rules
}
