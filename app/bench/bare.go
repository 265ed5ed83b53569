package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"cursortray/proxy/cursor/cursorpb"
)

// serveBare is the yardstick of the agent back-end: the least that a server can
// do which speaks the agent protocol. It opens a run for each request, decodes
// the messages, answers what would stop the run, and hands the text on; a run
// that waits for a tool it keeps open. It knows nothing of histories, states,
// blobs, results, signs of life, failures, limits or settings.
func serveBare(text, key string) error {
	b := bare{key: "Bearer " + key, transport: &http.Transport{Proxy: http.ProxyFromEnvironment, Protocols: new(http.Protocols)}}
	b.transport.Protocols.SetHTTP2(true)
	if err := json.Unmarshal([]byte(text), &b.cursor); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", b.chat)
	fmt.Println("listening on http://" + ln.Addr().String())
	return http.Serve(ln, mux)
}

type bare struct {
	key       string
	cursor    place
	transport *http.Transport
}

func (b *bare) chat(w http.ResponseWriter, r *http.Request) {
	model, text, ok := question(w, r, b.key)
	if !ok {
		return
	}
	// A run that waits for a tool outlives the request.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(r.Context(), cancel)
	run, err := b.open(ctx, text)
	if err != nil {
		cancel()
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	// The client may leave once it has the call.
	held := run.copy(w, model, stop)
	if !held {
		cancel()
		run.up.Close()
		run.body.Close()
		return
	}
	go run.hold(cancel)
}

// requestContext is what every client tells of itself; the service works through
// it before it answers.
func requestContext() *cursorpb.RequestContext {
	return &cursorpb.RequestContext{
		Env:              &cursorpb.RequestContextEnv{OsVersion: "linux", Shell: "bash", TimeZone: "UTC"},
		WebSearchEnabled: new(false), WebFetchEnabled: new(false),
		GitRepoInfoComplete: true, McpInfoComplete: true, RulesInfoComplete: true, EnvInfoComplete: true,
		RepositoryInfoComplete: true, CustomSubagentsInfoComplete: true, AgentSkillsInfoComplete: true,
		McpFileSystemInfoComplete: true, GitStatusInfoComplete: true,
	}
}

// bareRun is one run.
type bareRun struct {
	up   *io.PipeWriter
	body io.ReadCloser
}

func (b *bare) open(ctx context.Context, text string) (*bareRun, error) {
	first, err := frame(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_RunRequest{RunRequest: &cursorpb.AgentRunRequest{
		ConversationState: []byte{}, ConversationId: new(uuid()), RunId: new(uuid()),
		RequestedModel:                  &cursorpb.RequestedModel{ModelId: "default"},
		ClientSupportsRoutedModelUpdate: new(true),
		Action: &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_UserMessageAction{UserMessageAction: &cursorpb.UserMessageAction{
			UserMessage:    &cursorpb.UserMessage{Text: text, MessageId: uuid(), Mode: cursorpb.AgentMode_AGENT_MODE_AGENT},
			RequestContext: requestContext(),
		}}},
	}}})
	if err != nil {
		return nil, err
	}
	down, up := io.Pipe()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.cursor.Origin+cursorpb.AgentServiceRunProcedure,
		io.MultiReader(bytes.NewReader(first), down))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + b.cursor.Token, "Content-Type": "application/connect+proto",
		"Connect-Protocol-Version": "1", "Te": "trailers", "X-Cursor-Client-Type": "cli", "X-Request-Id": uuid(),
		"X-Cursor-Client-Version": "cli-2026.08.25-3e8eec8", "X-Ghost-Mode": "true", "X-Cursor-Streaming": "true",
		"X-Cursor-Timezone": "UTC", "X-Cursor-Checksum": strings.Repeat("a", 72),
	} {
		req.Header.Set(name, value)
	}
	resp, err := b.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, errors.New(resp.Status)
	}
	return &bareRun{up, resp.Body}, nil
}

// hold reads a run that waits for a tool until it ends.
func (r *bareRun) hold(cancel context.CancelFunc) {
	defer cancel()
	var buffer [512]byte
	for {
		if _, err := r.body.Read(buffer[:]); err != nil {
			return
		}
	}
}

// copy turns the messages of a run into chunks until its end, and flushes
// whenever no whole message is waiting. It returns true after a call of a tool,
// before which it calls keep.
func (r *bareRun) copy(w http.ResponseWriter, model string, keep func() bool) (held bool) {
	head := []byte(`data: {"id":"chatcmpl-raw","object":"chat.completion.chunk","created":1700000000,"model":"` + model +
		`","choices":[{"index":0,"delta":{`)
	tail := []byte(`},"finish_reason":null}]}` + "\n\n")
	flusher, _ := w.(http.Flusher)
	in := bufio.NewReaderSize(r.body, 16<<10)
	var message cursorpb.AgentServerMessage
	var chunks, payload []byte
	for {
		var err error
		if payload, err = readFrame(in, payload); err == nil {
			err = cursorpb.Codec{}.Unmarshal(payload, &message)
		}
		text, call, answers := digest(&message)
		switch {
		case err != nil:
		case text != "":
			chunks = append(chunks, head...)
			chunks = append(chunks, `"content":"`...)
			chunks = appendEscaped(chunks, []byte(text))
			chunks = append(chunks, '"')
			chunks = append(chunks, tail...)
		case call != nil:
			held = keep()
			chunks = append(chunks, head...)
			chunks = fmt.Appendf(chunks, `"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}]`, call.ToolCallId, call.ToolName)
			chunks = append(chunks, tail...)
		default:
			err = r.send(answers)
		}
		over := call != nil || message.GetInteractionUpdate().GetTurnEnded() != nil
		if over {
			chunks = append(chunks, "data: [DONE]\n\n"...)
		}
		if err == nil && !over && wholeFrame(in) && len(chunks) < 64<<10 {
			continue
		}
		if len(chunks) > 0 {
			if _, err := w.Write(chunks); err != nil {
				return false
			}
			flusher.Flush()
			chunks = chunks[:0]
		}
		if err != nil || over {
			return held && err == nil
		}
	}
}

// digest is what there is for the client in a message, or for the service.
func digest(m *cursorpb.AgentServerMessage) (text string, call *cursorpb.McpArgs, answers []*cursorpb.AgentClientMessage) {
	switch x := m.GetMessage().(type) {
	case *cursorpb.AgentServerMessage_InteractionUpdate:
		return x.InteractionUpdate.GetTextDelta().GetText(), nil, nil
	case *cursorpb.AgentServerMessage_KvServerMessage:
		return "", nil, []*cursorpb.AgentClientMessage{{Message: &cursorpb.AgentClientMessage_KvClientMessage{
			KvClientMessage: &cursorpb.KvClientMessage{Id: x.KvServerMessage.GetId(), Message: &cursorpb.KvClientMessage_SetBlobResult{
				SetBlobResult: &cursorpb.SetBlobResult{}}}}}}
	case *cursorpb.AgentServerMessage_ExecServerMessage:
		exec := x.ExecServerMessage
		if mcp := exec.GetMcpArgs(); mcp != nil {
			return "", mcp, nil
		}
		return "", nil, []*cursorpb.AgentClientMessage{
			{Message: &cursorpb.AgentClientMessage_ExecClientMessage{ExecClientMessage: &cursorpb.ExecClientMessage{
				Id: exec.GetId(), ExecId: exec.GetExecId(), Message: &cursorpb.ExecClientMessage_RequestContextResult{
					RequestContextResult: &cursorpb.RequestContextResult{Result: &cursorpb.RequestContextResult_Success{
						Success: &cursorpb.RequestContextSuccess{RequestContext: requestContext()}}}}}}},
			{Message: &cursorpb.AgentClientMessage_ExecClientControlMessage{ExecClientControlMessage: &cursorpb.ExecClientControlMessage{
				Message: &cursorpb.ExecClientControlMessage_StreamClose{StreamClose: &cursorpb.ExecClientStreamClose{Id: exec.GetId()}}}}},
		}
	}
	return "", nil, nil
}

func (r *bareRun) send(messages []*cursorpb.AgentClientMessage) error {
	for _, m := range messages {
		data, err := frame(m)
		if err != nil {
			return err
		}
		if _, err := r.up.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// frame is a message in its envelope: no flags, its size, itself.
func frame(m *cursorpb.AgentClientMessage) ([]byte, error) {
	data, err := cursorpb.Codec{}.MarshalAppend(make([]byte, frameHead), m)
	if err == nil {
		binary.BigEndian.PutUint32(data[1:], uint32(len(data)-frameHead))
	}
	return data, err
}

const frameHead = 5

// readFrame reads the next message into buffer, or io.EOF for the last envelope.
func readFrame(in *bufio.Reader, buffer []byte) ([]byte, error) {
	head, err := in.Peek(frameHead)
	if err != nil {
		return nil, err
	}
	if head[0] != 0 {
		return nil, io.EOF
	}
	size := int(binary.BigEndian.Uint32(head[1:]))
	if _, err := in.Discard(frameHead); err != nil {
		return nil, err
	}
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	_, err = io.ReadFull(in, buffer[:size])
	return buffer[:size], err
}

// wholeFrame tells whether a whole message is waiting.
func wholeFrame(in *bufio.Reader) bool {
	if in.Buffered() < frameHead {
		return false
	}
	head, err := in.Peek(frameHead)
	return err == nil && in.Buffered() >= frameHead+int(binary.BigEndian.Uint32(head[1:]))
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
