package cursorpb

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

// Ends of a stream as the service writes them: well, and with an error. The
// status of the HTTP answer is 200 for both.
const (
	endWell         = "02000000027b7d"
	endUnauthorized = "02000000327b226572726f72223a7b22636f6465223a22756e61757468656e74696361746564222c226d657373616765223a2278227d7d"
)

// wireServer answers a call with fixed bytes and keeps what the client sent.
type wireServer struct {
	answer  []byte
	request *http.Request
	sent    []byte
}

func (s *wireServer) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.request, s.sent = r, body
	return &http.Response{
		StatusCode: http.StatusOK,
		ProtoMajor: 2,
		Header:     http.Header{"Content-Type": {"application/connect+proto"}},
		Body:       io.NopCloser(bytes.NewReader(s.answer)),
		Trailer:    http.Header{},
		Request:    r,
	}, nil
}

// TestClientFraming: what the generated client writes is the vectors, envelope
// by envelope, and it reads the service's.
func TestClientFraming(t *testing.T) {
	var answer, want []byte
	for _, v := range serverVectors() {
		answer = append(answer, v.envelope(t)...)
	}
	server := &wireServer{answer: append(answer, unhex(t, endWell)...)}
	client := NewAgentServiceClient(server, "https://agent.example", connect.WithCodec(Codec{}))
	stream := client.Run(t.Context())
	for _, v := range clientVectors() {
		want = append(want, v.envelope(t)...)
		if err := stream.Send(v.message); err != nil {
			t.Fatalf("send %s: %v", v.name, err)
		}
	}
	if err := stream.CloseRequest(); err != nil {
		t.Fatal(err)
	}
	for _, v := range serverVectors() {
		got, err := stream.Receive()
		if err != nil {
			t.Fatalf("receive %s: %v", v.name, err)
		}
		if diff := cmp.Diff(v.message, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v.name, diff)
		}
	}
	if _, err := stream.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the stream is %v, want EOF", err)
	}
	if err := stream.CloseResponse(); err != nil {
		t.Fatal(err)
	}
	sent := envelopesByNumber(t, server.sent, (*AgentClientMessage)(nil).ProtoReflect().Descriptor())
	if diff := cmp.Diff(hex.EncodeToString(want), hex.EncodeToString(sent)); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if got, want := server.request.URL.String(), "https://agent.example/agent.v1.AgentService/Run"; got != want {
		t.Errorf("called %s, want %s", got, want)
	}
	if got, want := server.request.Header.Get("Content-Type"), "application/connect+proto"; got != want {
		t.Errorf("content type %s, want %s", got, want)
	}
}

// TestClientFramingError: an error under HTTP status 200 is an error.
func TestClientFramingError(t *testing.T) {
	client := NewAgentServiceClient(&wireServer{answer: unhex(t, endUnauthorized)}, "https://agent.example")
	stream := client.Run(t.Context())
	if err := stream.Send(runRequest()); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseRequest(); err != nil {
		t.Fatal(err)
	}
	_, err := stream.Receive()
	var connectErr *connect.Error
	if !errors.As(err, &connectErr) || connectErr.Code() != connect.CodeUnauthenticated || connectErr.Message() != "x" {
		t.Errorf("got %v, want unauthenticated: x", err)
	}
	if err := stream.CloseResponse(); err != nil {
		t.Fatal(err)
	}
}

// scriptedService reads all that the client sends, then sends all server
// vectors and ends with err.
type scriptedService struct {
	UnimplementedAgentServiceHandler
	t        *testing.T
	err      error
	received []*AgentClientMessage
}

func (s *scriptedService) Run(_ context.Context, stream *connect.BidiStream[AgentClientMessage, AgentServerMessage]) error {
	for {
		m, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		s.received = append(s.received, m)
	}
	for _, v := range serverVectors() {
		if err := stream.Send(v.message); err != nil {
			s.t.Errorf("send %s: %v", v.name, err)
		}
	}
	return s.err
}

// TestServerFraming: the same from the other end, which the simulated service
// uses.
func TestServerFraming(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		end  string
	}{
		{"well", nil, endWell},
		{"unauthenticated", connect.NewError(connect.CodeUnauthenticated, errors.New("x")), endUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			var body, want []byte
			for _, v := range clientVectors() {
				body = append(body, v.envelope(t)...)
			}
			for _, v := range serverVectors() {
				want = append(want, v.envelope(t)...)
			}
			want = append(want, unhex(t, test.end)...)

			service := &scriptedService{t: t, err: test.err}
			path, handler := NewAgentServiceHandler(service, connect.WithCodec(Codec{}))
			request := httptest.NewRequest(http.MethodPost, path+"Run", bytes.NewReader(body))
			request.ProtoMajor, request.ProtoMinor = 2, 0
			request.Header.Set("Content-Type", "application/connect+proto")
			request.Header.Set("Connect-Protocol-Version", "1")
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, request)

			if recorder.Code != http.StatusOK {
				t.Fatalf("status %d: %s", recorder.Code, recorder.Body)
			}
			sent := envelopesByNumber(t, recorder.Body.Bytes(), (*AgentServerMessage)(nil).ProtoReflect().Descriptor())
			if diff := cmp.Diff(hex.EncodeToString(want), hex.EncodeToString(sent)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			var wantReceived []*AgentClientMessage
			for _, v := range clientVectors() {
				wantReceived = append(wantReceived, v.message)
			}
			if diff := cmp.Diff(wantReceived, service.received, protocmp.Transform()); diff != "" {
				t.Errorf("received (-want +got):\n%s", diff)
			}
		})
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
