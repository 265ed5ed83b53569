package simserver

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// quick are rules under which nothing that is missing takes long to be missed.
func quick(r *RunRules) {
	r.AnswerWithin, r.Closing = 100*time.Millisecond, 100*time.Millisecond
}

// misbehaviour is something that no client does.
type misbehaviour struct {
	script []Step
	edit   func(*bare)
	rules  []string
	fails  string // part of the error that the client gets; "" for none
}

// onExec replaces the answer to work of a kind.
func onExec(kind string, do func(*turn, *cursorpb.ExecServerMessage)) func(*bare) {
	return func(b *bare) {
		b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
			if e := m.GetExecServerMessage(); e != nil {
				if name, _ := resultOf(e); name == kind {
					do(run, e)
					return true
				}
			}
			return false
		}
	}
}

func onBlob(do func(*turn, *cursorpb.KvServerMessage)) func(*bare) {
	return func(b *bare) {
		b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
			if m.GetKvServerMessage() != nil {
				do(run, m.GetKvServerMessage())
			}
			return m.GetKvServerMessage() != nil
		}
	}
}

func onQuery(do func(*turn, *cursorpb.InteractionQuery)) func(*bare) {
	return func(b *bare) {
		b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
			if m.GetInteractionQuery() != nil {
				do(run, m.GetInteractionQuery())
			}
			return m.GetInteractionQuery() != nil
		}
	}
}

// onText does something once the first text is there.
func onText(do func(*turn)) func(*bare) {
	return func(b *bare) {
		b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
			if m.GetInteractionUpdate().GetTextDelta() != nil && run.text == "" {
				do(run)
			}
			return false
		}
	}
}

func onRequest(edit func(*cursorpb.AgentRunRequest)) func(*bare) {
	return func(b *bare) { b.request = edit }
}

func onContext(edit func(*cursorpb.RequestContext)) func(*bare) {
	return func(b *bare) { b.context = edit }
}

func onHeader(name, value string) func(*bare) {
	return func(b *bare) { b.header = func(h http.Header) { h.Set(name, value) } }
}

func result(e *cursorpb.ExecServerMessage, text string) *cursorpb.ExecClientMessage {
	return &cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: mcpText(text)}
}

func readRejected(e *cursorpb.ExecServerMessage) *cursorpb.ExecClientMessage {
	return &cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: &cursorpb.ExecClientMessage_ReadResult{
		ReadResult: &cursorpb.ReadResult{Result: &cursorpb.ReadResult_Rejected{Rejected: &cursorpb.ReadRejected{Reason: "no"}}},
	}}
}

func check(t *testing.T, cases map[string]misbehaviour) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := start(t, Options{})
			s.ChangeRunRules(quick)
			b := newBare(t, s).offer("echo", readSchema)
			if c.edit != nil {
				c.edit(b)
			}
			if c.script == nil {
				c.script = []Step{Opening(), Text("done")}
			}
			s.Script(c.script...)
			got := b.run("Hi")
			if c.fails == "" && got.err != nil || c.fails != "" && (got.err == nil || !strings.Contains(got.err.Error(), c.fails)) {
				t.Errorf("error %v, want %q", got.err, c.fails)
			}
			if s.RunStats().Total > 0 {
				awaitEnd(t, s, 1)
			}
			if rules := broken(t, s); !slices.Equal(rules, c.rules) {
				t.Errorf("broken rules %q, want %q: %v", rules, c.rules, s.Violations())
			}
		})
	}
}

func TestRulesOfTheOpening(t *testing.T) {
	heartbeat := &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ClientHeartbeat{ClientHeartbeat: &cursorpb.ClientHeartbeat{}}}
	check(t, map[string]misbehaviour{
		"state missing":      {edit: onRequest(func(m *cursorpb.AgentRunRequest) { m.ConversationState = nil }), rules: []string{"state"}, fails: "Conversation state is required"},
		"state is no state":  {edit: onRequest(func(m *cursorpb.AgentRunRequest) { m.ConversationState = []byte{0xff} }), rules: []string{"state"}},
		"no conversation id": {edit: onRequest(func(m *cursorpb.AgentRunRequest) { m.ConversationId = nil }), rules: []string{"run-request"}},
		"unknown model":      {edit: onRequest(func(m *cursorpb.AgentRunRequest) { m.RequestedModel.ModelId = "gpt-1" }), fails: "not_found"},
		"system prompt":      {edit: onRequest(func(m *cursorpb.AgentRunRequest) { m.CustomSystemPrompt = proto.String("be nice") }), rules: []string{"run-request"}, fails: "permission_denied"},
		"no action":          {edit: onRequest(func(m *cursorpb.AgentRunRequest) { m.Action = nil }), rules: []string{"run-request"}, fails: "invalid_argument"},
		"blob with a wrong id": {edit: onRequest(func(m *cursorpb.AgentRunRequest) {
			m.PreFetchedBlobs = []*cursorpb.PreFetchedBlob{{Id: []byte("x"), Value: []byte("y")}}
		}), rules: []string{"run-request"}},
		"message id": {edit: onRequest(func(m *cursorpb.AgentRunRequest) {
			m.Action.GetUserMessageAction().UserMessage.MessageId = "m1"
		}), rules: []string{"user-message"}},
		"image bytes as id": {edit: onRequest(func(m *cursorpb.AgentRunRequest) {
			m.Action.GetUserMessageAction().UserMessage.SelectedContext = &cursorpb.SelectedContext{SelectedImages: []*cursorpb.SelectedImage{
				{DataOrBlobId: &cursorpb.SelectedImage_BlobId{BlobId: []byte("\x89PNG")}, MimeType: "image/png"},
			}}
		}), rules: []string{"user-message"}, fails: "Image not found"},
		"an unknown field": {edit: onRequest(func(m *cursorpb.AgentRunRequest) {
			m.Action.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 900, protowire.VarintType), 1))
		}), rules: []string{"message"}},
		"second request": {script: []Step{Text("a"), Text("b"), Pause(20 * time.Millisecond)}, edit: func(b *bare) {
			onText(func(run *turn) {
				run.send(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_RunRequest{RunRequest: b.opening("again")}})
			})(b)
		}, rules: []string{"first-message"}},
		"te":                 {edit: onHeader("Te", ""), rules: []string{"te"}},
		"compressed upload":  {edit: onHeader("Connect-Content-Encoding", "gzip"), rules: []string{"encoding"}},
		"brotli":             {edit: onHeader("Connect-Accept-Encoding", "br"), rules: []string{"encoding"}},
		"another device":     {edit: onHeader("X-Cursor-Checksum", "nonsense"), rules: []string{"checksum"}},
		"repeated requestid": {edit: onHeader("X-Request-Id", "1"), rules: []string{"request-id"}},
	})
	t.Run("heartbeat first", func(t *testing.T) {
		s := start(t, Options{})
		run := newBare(t, s).open("")
		run.send(heartbeat)
		if run.play(); run.err == nil || !strings.Contains(run.err.Error(), "First message must be a run request") {
			t.Errorf("error %v", run.err)
		}
		wantRules(t, s, "first-message")
	})
}

func TestRulesOfTheContext(t *testing.T) {
	yes := true
	check(t, map[string]misbehaviour{
		"web search on":    {edit: onContext(func(c *cursorpb.RequestContext) { c.WebSearchEnabled = &yes }), rules: []string{"web-tools"}},
		"web fetch unsaid": {edit: onContext(func(c *cursorpb.RequestContext) { c.WebFetchEnabled = nil }), rules: []string{"web-tools"}},
		"meta tools":       {edit: onContext(func(c *cursorpb.RequestContext) { c.McpMetaToolOptions = &cursorpb.McpMetaToolOptions{} }), rules: []string{"context"}},
		"other tools":      {edit: onContext(func(c *cursorpb.RequestContext) { c.Tools = nil }), rules: []string{"tools"}},
		"two of a name":    {edit: func(b *bare) { b.offer("echo", readSchema) }, rules: []string{"tools"}},
		"schema is text":   {edit: func(b *bare) { b.tools[0].InputSchema = []byte(`{"type":"object"}`) }, rules: []string{"schema"}, fails: "invalid_argument"},
		"schema with a choice": {edit: func(b *bare) {
			b.offer("choice", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`)
		}, rules: []string{"schema"}, fails: "resource_exhausted: Error"},
		"schema of a list": {edit: func(b *bare) { b.offer("list", `{"type":"array"}`) }, rules: []string{"schema"}},
		"refused": {edit: onExec("request_context_args", func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(&cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: &cursorpb.ExecClientMessage_RequestContextResult{
				RequestContextResult: &cursorpb.RequestContextResult{Result: &cursorpb.RequestContextResult_Rejected{Rejected: &cursorpb.RequestContextRejected{}}},
			}})
			run.closeExec(e.GetId())
		}), rules: []string{"context"}},
		"unanswered": {edit: onExec("request_context_args", func(*turn, *cursorpb.ExecServerMessage) {}), rules: []string{"exec-unanswered"}, fails: "deadline_exceeded"},
	})
}

func TestRulesOfWork(t *testing.T) {
	call := []Step{Call("echo", "{}"), Text("done")}
	read := []Step{ReadFile("/w/a.txt"), Text("done")}
	mcp := func(do func(*turn, *cursorpb.ExecServerMessage)) func(*bare) { return onExec("mcp_args", do) }
	check(t, map[string]misbehaviour{
		"doubled": {script: call, edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(result(e, "1"))
			run.answer(result(e, "2"))
			run.closeExec(e.GetId())
		}), rules: []string{"exec-doubled"}},
		"answered and failed": {script: call, edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(result(e, "1"))
			run.throw(e.GetId(), "no", "x")
			run.closeExec(e.GetId())
		}), rules: []string{"exec-doubled"}},
		"closed twice": {script: append(slices.Clone(call), MissingBlob()), edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(result(e, "1"))
			run.closeExec(e.GetId())
			run.closeExec(e.GetId())
		}), rules: []string{"exec-doubled"}},
		"not closed":  {script: call, edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) { run.answer(result(e, "1")) }), rules: []string{"exec-unclosed"}},
		"only closed": {script: call, edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) { run.closeExec(e.GetId()) }), rules: []string{"exec-unanswered"}},
		"other exec_id": {script: call, edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) {
			answer := result(e, "1")
			answer.ExecId = ""
			run.answer(answer)
			run.closeExec(e.GetId())
		}), rules: []string{"exec-id"}},
		"unknown id": {script: call, edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) {
			answer := result(e, "1")
			answer.Id = 77
			run.answer(answer)
			run.closeExec(78)
			run.take(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_ExecServerMessage{ExecServerMessage: e}})
		}), rules: []string{"exec-unknown"}},
		"wrong field": {script: read, edit: onExec("read_args", func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(result(e, "text"))
			run.closeExec(e.GetId())
		}), rules: []string{"exec-field"}},
		"shell stream in the field of shell": {script: []Step{ShellStream("ls")}, edit: onExec("shell_stream_args", func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(&cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: &cursorpb.ExecClientMessage_ShellResult{
				ShellResult: &cursorpb.ShellResult{Result: &cursorpb.ShellResult_Rejected{Rejected: &cursorpb.ShellRejected{}}},
			}})
			run.closeExec(e.GetId())
		}), rules: []string{"exec-field"}},
		"shell stream without start": {script: []Step{ShellStream("ls")}, edit: onExec("shell_stream_args", func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(&cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: &cursorpb.ExecClientMessage_ShellStream{
				ShellStream: &cursorpb.ShellStream{Event: &cursorpb.ShellStream_Exit{Exit: &cursorpb.ShellStreamExit{}}},
			}})
			run.closeExec(e.GetId())
		}), rules: []string{"shell-order"}},
		"empty result": {script: read, edit: onExec("read_args", func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(&cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: &cursorpb.ExecClientMessage_ReadResult{ReadResult: &cursorpb.ReadResult{}}})
			run.closeExec(e.GetId())
		}), rules: []string{"exec-field"}},
		"throw without the code": {script: []Step{UnknownWork(99)}, edit: onExec("unknown", func(run *turn, e *cursorpb.ExecServerMessage) {
			run.throw(e.GetId(), "no", "whatever")
			run.closeExec(e.GetId())
		}), rules: []string{"exec-field"}},
		"sign of life after the answer": {script: append(slices.Clone(call), MissingBlob()), edit: mcp(func(run *turn, e *cursorpb.ExecServerMessage) {
			run.answer(result(e, "1"))
			run.closeExec(e.GetId())
			run.execBeat(e.GetId())
		}), rules: []string{"exec-heartbeat"}},
		"answer to withdrawn work": {script: []Step{func(r *Run) error {
			e, err := r.Call(ToolCall{Name: "echo"})
			if err == nil {
				err = e.Abort()
			}
			if err != nil {
				return err
			}
			return Steps(ReadFile("/w/a.txt"), MissingBlob())(r)
		}}, edit: func(b *bare) {
			var withdrawn *cursorpb.ExecServerMessage
			b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
				e := m.GetExecServerMessage()
				switch {
				case e.GetMcpArgs() != nil:
					withdrawn = e
				case e.GetReadArgs() != nil:
					run.answer(readRejected(e))
					run.closeExec(e.GetId())
					run.answer(result(withdrawn, "too late"))
				default:
					return false
				}
				return true
			}
		}, rules: []string{"exec-aborted"}},
	})
}

func (t *turn) execBeat(id uint32) {
	t.control(&cursorpb.ExecClientControlMessage{Message: &cursorpb.ExecClientControlMessage_Heartbeat{Heartbeat: &cursorpb.ExecClientHeartbeat{Id: id}}})
}

func TestRulesOfBlobsAndQueries(t *testing.T) {
	get := []Step{MissingBlob(), Text("done")}
	ask := []Step{AskKind(2), Text("done")}
	refuse := func(run *turn, q *cursorpb.InteractionQuery) { run.send(refusal(q)) }
	check(t, map[string]misbehaviour{
		"blob unanswered":            {script: get, edit: onBlob(func(*turn, *cursorpb.KvServerMessage) {}), rules: []string{"kv-unanswered"}, fails: "deadline_exceeded"},
		"blob unanswered at the end": {script: []Step{RequestBlobs(BlobID(nil))}, edit: onBlob(func(*turn, *cursorpb.KvServerMessage) {}), rules: []string{"kv-unanswered"}},
		"blob doubled":               {script: get, edit: onBlob(func(run *turn, m *cursorpb.KvServerMessage) { run.send(run.blob(m)); run.send(run.blob(m)) }), rules: []string{"kv-doubled"}},
		"blob of another number": {script: get, edit: onBlob(func(run *turn, m *cursorpb.KvServerMessage) {
			other := run.blob(m)
			other.GetKvClientMessage().Id += 7
			run.send(other)
			run.send(run.blob(m))
		}), rules: []string{"kv-order", "kv-unknown"}},
		"read answered as write": {script: get, edit: onBlob(func(run *turn, m *cursorpb.KvServerMessage) {
			answer := run.blob(m)
			answer.GetKvClientMessage().Message = &cursorpb.KvClientMessage_SetBlobResult{SetBlobResult: &cursorpb.SetBlobResult{}}
			run.send(answer)
		}), rules: []string{"kv-field"}},
		"blobs out of order": {script: []Step{GetBlobs(BlobID([]byte("a")), BlobID([]byte("b")))}, edit: func(b *bare) {
			var first *cursorpb.KvServerMessage
			onBlob(func(run *turn, m *cursorpb.KvServerMessage) {
				if first == nil {
					first = m
					return
				}
				run.send(run.blob(m))
				run.send(run.blob(first))
			})(b)
		}, rules: []string{"kv-order"}},
		"blob lost": {script: []Step{SetBlob([]byte("x")), GetBlob(BlobID([]byte("x")))}, edit: onBlob(func(run *turn, m *cursorpb.KvServerMessage) {
			run.b.blobs = map[string][]byte{}
			run.send(run.blob(m))
		}), rules: []string{"blob-lost"}, fails: "Blob not found"},
		"blob changed": {script: []Step{SetBlob([]byte("x")), GetBlob(BlobID([]byte("x")))}, edit: onBlob(func(run *turn, m *cursorpb.KvServerMessage) {
			run.b.blobs[string(BlobID([]byte("x")))] = []byte("y")
			run.send(run.blob(m))
		}), rules: []string{"blob-changed"}},
		"query unanswered": {script: ask, edit: onQuery(func(*turn, *cursorpb.InteractionQuery) {}), rules: []string{"query-unanswered"}, fails: "deadline_exceeded"},
		"query doubled":    {script: append(slices.Clone(ask), MissingBlob()), edit: onQuery(func(run *turn, q *cursorpb.InteractionQuery) { refuse(run, q); refuse(run, q) }), rules: []string{"query-doubled"}},
		"query of another number": {script: ask, edit: onQuery(func(run *turn, q *cursorpb.InteractionQuery) {
			run.send(refusal(&cursorpb.InteractionQuery{Id: 99, Query: q.GetQuery()}))
			refuse(run, q)
		}), rules: []string{"query-unknown"}},
		"query in another field": {script: []Step{AskKind(4)}, edit: onQuery(func(run *turn, q *cursorpb.InteractionQuery) {
			run.send(refusal(&cursorpb.InteractionQuery{Id: q.GetId(), Query: &cursorpb.InteractionQuery_WebSearchRequestQuery{}}))
		}), rules: []string{"query-field"}},
		"query answered with nothing": {script: ask, edit: onQuery(func(run *turn, q *cursorpb.InteractionQuery) {
			run.send(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_InteractionResponse{InteractionResponse: &cursorpb.InteractionResponse{
				Id: q.GetId(), Result: &cursorpb.InteractionResponse_WebSearchRequestResponse{WebSearchRequestResponse: &cursorpb.WebSearchRequestResponse{}},
			}}})
		}), rules: []string{"query-field"}},
	})
}
