package agentrpc

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
	pb "cursortray/proxy/cursor/cursorpb"
)

// service is the agent service that a test scripts.
type service struct {
	pb.UnimplementedAgentServiceHandler
	play func(s *session) error
	deaf bool // play reads by itself

	live     atomic.Int64
	mu       sync.Mutex
	requests []*pb.AgentRunRequest
}

// session is one run, from the service's side.
type session struct {
	ctx     context.Context // ends when the client gives up
	service *service
	n       int // of the run, from 1
	request *pb.AgentRunRequest
	stream  *connect.BidiStream[pb.AgentClientMessage, pb.AgentServerMessage]
	in      chan *pb.AgentClientMessage // without heartbeats
	beats   atomic.Int64
}

func (v *service) Run(ctx context.Context, stream *connect.BidiStream[pb.AgentClientMessage, pb.AgentServerMessage]) error {
	v.live.Add(1)
	defer v.live.Add(-1)
	first, err := stream.Receive()
	if err != nil {
		return err
	}
	if first.GetRunRequest() == nil || first.GetRunRequest().ConversationState == nil {
		return connect.NewError(connect.CodeInvalidArgument, errors.New("First message must be a run request"))
	}
	v.mu.Lock()
	v.requests = append(v.requests, first.GetRunRequest())
	n := len(v.requests)
	v.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &session{ctx: ctx, service: v, n: n, request: first.GetRunRequest(), stream: stream, in: make(chan *pb.AgentClientMessage, 4096)}
	if !v.deaf {
		go s.listen(stop)
	}
	return v.play(s)
}

func (s *session) listen(stop func()) {
	defer close(s.in)
	for {
		m, err := s.stream.Receive()
		if err != nil {
			return
		}
		switch {
		case m.GetClientHeartbeat() != nil || m.GetExecClientControlMessage().GetHeartbeat() != nil:
			s.beats.Add(1)
		case m.GetConversationAction().GetCancelAction() != nil:
			stop()
		default:
			s.in <- m
		}
	}
}

// seen returns the requests of all runs so far.
func (v *service) seen() []*pb.AgentRunRequest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]*pb.AgentRunRequest(nil), v.requests...)
}

var errGivenUp = errors.New("the client gave up")

func (s *session) send(m *pb.AgentServerMessage) error {
	if s.ctx.Err() != nil {
		return errGivenUp
	}
	return s.stream.Send(m)
}

func (s *session) update(u *pb.InteractionUpdate) error {
	return s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_InteractionUpdate{InteractionUpdate: u}})
}

func (s *session) say(text string) error {
	return s.update(&pb.InteractionUpdate{Message: &pb.InteractionUpdate_TextDelta{TextDelta: &pb.TextDeltaUpdate{Text: text}}})
}

func (s *session) think(text string) error {
	return s.update(&pb.InteractionUpdate{Message: &pb.InteractionUpdate_ThinkingDelta{ThinkingDelta: &pb.ThinkingDeltaUpdate{Text: text}}})
}

func (s *session) end(u *pb.TurnEndedUpdate) error {
	if u == nil {
		u = &pb.TurnEndedUpdate{}
	}
	return s.update(&pb.InteractionUpdate{Message: &pb.InteractionUpdate_TurnEnded{TurnEnded: u}})
}

func (s *session) checkpoint(state *pb.ConversationStateStructure) error {
	data, err := proto.Marshal(state)
	if err != nil {
		return err
	}
	return s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_ConversationCheckpointUpdate{ConversationCheckpointUpdate: data}})
}

// call asks for a tool of the client.
func (s *session) call(id uint32, tool string, args map[string]any) error {
	encoded := map[string][]byte{}
	for k, v := range args {
		value, err := structpb.NewValue(v)
		if err != nil {
			return err
		}
		if encoded[k], err = proto.Marshal(value); err != nil {
			return err
		}
	}
	return s.exec(&pb.ExecServerMessage{Id: id, ExecId: "exec", Message: &pb.ExecServerMessage_McpArgs{
		McpArgs: &pb.McpArgs{Name: "mcp_cursortray_" + tool, ToolName: tool, ProviderIdentifier: "cursortray", ToolCallId: "up", Args: encoded}}})
}

func (s *session) exec(x *pb.ExecServerMessage) error {
	return s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_ExecServerMessage{ExecServerMessage: x}})
}

func (s *session) kv(m *pb.KvServerMessage) error {
	return s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_KvServerMessage{KvServerMessage: m}})
}

func (s *session) setBlob(id uint32, key, data []byte) error {
	return s.kv(&pb.KvServerMessage{Id: id, Message: &pb.KvServerMessage_SetBlobArgs{SetBlobArgs: &pb.SetBlobArgs{BlobId: key, BlobData: data}}})
}

func (s *session) getBlob(id uint32, key []byte) error {
	return s.kv(&pb.KvServerMessage{Id: id, Message: &pb.KvServerMessage_GetBlobArgs{GetBlobArgs: &pb.GetBlobArgs{BlobId: key}}})
}

// next returns the client's next message that is no heartbeat.
func (s *session) next() (*pb.AgentClientMessage, error) {
	select {
	case m, ok := <-s.in:
		if !ok {
			return nil, errGivenUp
		}
		return m, nil
	case <-s.ctx.Done():
		return nil, errGivenUp
	}
}

// result waits for the answer to an exec, and for its stream close.
func (s *session) result() (*pb.ExecClientMessage, error) {
	m, err := s.next()
	if err != nil {
		return nil, err
	}
	closed, err := s.next()
	if err != nil {
		return nil, err
	}
	if m.GetExecClientMessage() == nil || closed.GetExecClientControlMessage().GetStreamClose() == nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("no result and stream close"))
	}
	return m.GetExecClientMessage(), nil
}

// hang waits until the client gives up.
func (s *session) hang() error {
	<-s.ctx.Done()
	return errGivenUp
}

// failure is an end-stream error with Cursor's details.
func failure(code connect.Code) error { return connect.NewError(code, errors.New("Error")) }

// bench is a Backend with its service.
type bench struct {
	*Backend
	service *service
	server  *httptest.Server
	host    *fakeHost
	login   *fakeLogin
}

type fakeHost struct {
	origin string
	asked  atomic.Int64
	forgot atomic.Int64
	err    error
}

func (h *fakeHost) Origin(context.Context) (string, error) { h.asked.Add(1); return h.origin, h.err }
func (h *fakeHost) Forget()                                { h.forgot.Add(1) }

type fakeLogin struct {
	renewed atomic.Int64
	err     error
}

func (l *fakeLogin) Token(context.Context) (string, error) { return "token", l.err }
func (l *fakeLogin) Renew(context.Context, string) (string, error) {
	l.renewed.Add(1)
	return "other", l.err
}
func (l *fakeLogin) SignedIn(context.Context) error { return l.err }

const testModel = "test-model"

func testCatalog(context.Context) (*cursor.Catalog, error) {
	return cursor.ParseCatalog([]byte(`{"models":[{"name":"test-model","supportsAgent":true,"supportsImages":true,"contextTokenLimit":200000}]}`),
		nil, nil, time.Now(), cursor.CatalogConfig{})
}

// quick shortens what tests would have to wait for.
func quick() timing {
	times := defaultTiming()
	times.pause, times.maxPause = time.Millisecond, 4*time.Millisecond
	times.saving = time.Millisecond
	return times
}

// newBench starts a service that plays a script in every run, and a Backend for
// it, over TLS and HTTP/2.
func newBench(t testing.TB, play func(s *session) error, change ...func(*Config, *timing)) *bench {
	t.Helper()
	v := &service{play: play}
	path, handler := pb.NewAgentServiceHandler(v, connect.WithCodec(pb.Codec{}))
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	server := httptest.NewUnstartedServer(mux)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that tests break
	server.StartTLS()
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport := NewTransport(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}})
	b := &bench{service: v, server: server, host: &fakeHost{origin: server.URL}, login: &fakeLogin{}}
	cfg := Config{Transport: transport, Login: b.login, Host: b.host, Catalog: testCatalog}
	times := quick()
	for _, c := range change {
		c(&cfg, &times)
	}
	b.Backend = newBackend(cfg, times)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		transport.CloseIdleConnections()
		server.Close()
	})
	return b
}

// answer is a turn as the client sees it.
type answer struct {
	text, reasoning string
	calls           []chat.ToolCall
	finish          *chat.Finish
	err             *chat.Error
}

func (b *bench) ask(t *testing.T, req *chat.Request) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return collect(b.Chat(ctx, req))
}

func collect(seq func(func(chat.Event, error) bool)) answer {
	var a answer
	for e, err := range seq {
		if err != nil {
			a.err = chat.AsError(err)
			break
		}
		switch e := e.(type) {
		case chat.TextDelta:
			a.text += e.Text
		case chat.ReasoningDelta:
			a.reasoning += e.Text
		case chat.ToolCall:
			a.calls = append(a.calls, e)
		case chat.Finish:
			a.finish = &e
		}
	}
	return a
}

func words(texts ...string) *chat.Request {
	req := &chat.Request{Model: testModel}
	for i, text := range texts {
		req.Messages = append(req.Messages, chat.Message{Role: chat.Role(i % 2), Parts: []chat.Part{chat.Text{Text: text}}})
	}
	return req
}

// with adds what the client has got, and what it says to that.
func with(req *chat.Request, a answer, parts ...chat.Part) *chat.Request {
	next := *req
	said := chat.Message{Role: chat.Assistant}
	if a.text != "" {
		said.Parts = append(said.Parts, chat.Text{Text: a.text})
	}
	for _, c := range a.calls {
		said.Parts = append(said.Parts, chat.ToolUse{ID: c.ID, Name: c.Name, Arguments: string(c.Arguments)})
	}
	next.Messages = append(append([]chat.Message(nil), req.Messages...), said, chat.Message{Role: chat.User, Parts: parts})
	return &next
}

// results answers all calls of a turn.
func results(a answer, text string) []chat.Part {
	var parts []chat.Part
	for _, c := range a.calls {
		parts = append(parts, chat.ToolResult{CallID: c.ID, Content: []chat.Part{chat.Text{Text: text}}})
	}
	return parts
}

func tools(names ...string) []chat.Tool {
	var list []chat.Tool
	for _, name := range names {
		list = append(list, chat.Tool{Name: name, Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
	}
	return list
}

// eventually polls: what happens on the other side of a socket tells nobody.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Errorf("%s did not happen", what)
			return
		}
		<-time.After(time.Millisecond)
	}
}

// used is a checkpoint with token details.
func used(tokens, limit uint32) *pb.ConversationStateStructure {
	return &pb.ConversationStateStructure{TokenDetails: &pb.ConversationTokenDetails{UsedTokens: tokens, MaxTokens: limit}}
}
