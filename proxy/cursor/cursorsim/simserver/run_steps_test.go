package simserver

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"cursortray/proxy/cursor/cursorpb"
)

func TestParallelCallsTakeResultsInAnyOrder(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s).offer("echo", readSchema)
	s.Script(
		Calls(ToolCall{Name: "echo", Arguments: `{"n":1}`}, ToolCall{Name: "echo", Arguments: `{"n":2}`, Bare: true}),
		Tell(func(r *Run) string {
			return r.Answers()[0].Text() + " " + r.Answers()[1].Text()
		}),
	)
	var waiting []*cursorpb.ExecServerMessage
	b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
		if m.GetExecServerMessage().GetMcpArgs() == nil {
			return false
		}
		if waiting = append(waiting, m.GetExecServerMessage()); len(waiting) < 2 {
			return true
		}
		for i, e := range slices.Backward(waiting) {
			run.answer(&cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: mcpText(fmt.Sprint("result ", i+1))})
			run.closeExec(e.GetId())
		}
		return true
	}
	got := b.run("Hi")
	if got.err != nil || got.text != "result 1 result 2" {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	shown := 0
	for _, kind := range got.kinds {
		if kind == "tool_call_started" {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d calls were shown, want 1", shown)
	}
	wantRules(t, s)
}

// TestEveryKindOfWork: a client may fail any piece of work.
func TestEveryKindOfWork(t *testing.T) {
	s := start(t, Options{})
	s.Script(Opening(), EveryKind(), Text("done"))
	got := newBare(t, s).run("Hi")
	if got.err != nil || got.text != "done" {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	record := awaitEnd(t, s, 1)[0]
	if n := len(NativeKinds()); len(record.Execs) != n { // less two, and the opening and the unknown one
		t.Errorf("%d pieces of work, want %d", len(record.Execs), n)
	}
	for _, e := range record.Execs[1:] {
		if e.Throw.GetError() != "unsupported" {
			t.Errorf("%v was answered with %v", e.Request, e.Throw)
		}
	}
	wantRules(t, s)
}

// TestNativeWork: the typed results of a client reach the script.
func TestNativeWork(t *testing.T) {
	files := map[string]string{"/w/a.txt": "first\nsecond\n"}
	s := start(t, Options{})
	b := newBare(t, s)
	b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
		e := m.GetExecServerMessage()
		answer := &cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId()}
		switch args := e.GetMessage().(type) {
		case *cursorpb.ExecServerMessage_ReadArgs:
			answer.Message = &cursorpb.ExecClientMessage_ReadResult{ReadResult: &cursorpb.ReadResult{Result: &cursorpb.ReadResult_Success{Success: &cursorpb.ReadSuccess{
				Path: args.ReadArgs.GetPath(), Output: &cursorpb.ReadSuccess_Content{Content: files[args.ReadArgs.GetPath()]},
			}}}}
		case *cursorpb.ExecServerMessage_WriteArgs:
			files[args.WriteArgs.GetPath()] = args.WriteArgs.GetFileText()
			answer.Message = &cursorpb.ExecClientMessage_WriteResult{WriteResult: &cursorpb.WriteResult{Result: &cursorpb.WriteResult_Success{Success: &cursorpb.WriteSuccess{}}}}
		case *cursorpb.ExecServerMessage_ShellStreamArgs:
			for _, event := range []*cursorpb.ShellStream{
				{Event: &cursorpb.ShellStream_Start{Start: &cursorpb.ShellStreamStart{}}},
				{Event: &cursorpb.ShellStream_Stdout{Stdout: &cursorpb.ShellStreamStdout{Data: "out of " + args.ShellStreamArgs.GetCommand()}}},
				{Event: &cursorpb.ShellStream_Exit{Exit: &cursorpb.ShellStreamExit{}}},
			} {
				run.answer(&cursorpb.ExecClientMessage{Id: e.GetId(), ExecId: e.GetExecId(), Message: &cursorpb.ExecClientMessage_ShellStream{ShellStream: event}})
			}
			run.closeExec(e.GetId())
			return true
		case *cursorpb.ExecServerMessage_PiBashArgs:
			answer.Message = &cursorpb.ExecClientMessage_PiBashResult{PiBashResult: &cursorpb.PiBashExecResult{Result: &cursorpb.PiBashExecResult_Success{Success: &cursorpb.PiBashExecSuccess{Output: "pi"}}}}
		case *cursorpb.ExecServerMessage_MiniSweAgentBashArgs:
			answer.Message = &cursorpb.ExecClientMessage_MiniSweAgentBashResult{MiniSweAgentBashResult: &cursorpb.ShellResult{Result: &cursorpb.ShellResult_Rejected{Rejected: &cursorpb.ShellRejected{Reason: "no"}}}}
		default:
			return false
		}
		run.answer(answer)
		run.closeExec(e.GetId())
		return true
	}
	last := Tell(func(r *Run) string { return r.Last().Text() + "|" })
	s.Script(
		ReadFile("/w/a.txt"), last, EditFile("/w/a.txt", "first", "1st"), ReadFile("/w/a.txt"), last,
		ShellStream("ls"), last, Native("pi_bash_args", &cursorpb.PiBashExecArgs{Command: "ls"}), last,
		Native("mini_swe_agent_bash_args", &cursorpb.ShellArgs{Command: "ls"}), last,
	)
	got := b.run("Hi")
	if want := "first\nsecond\n|1st\nsecond\n|out of ls|pi|no|"; got.err != nil || got.text != want {
		t.Errorf("text %q, want %q; error %v", got.text, want, got.err)
	}
	wantRules(t, s)
}

func TestQueries(t *testing.T) {
	s := start(t, Options{})
	s.Script(AskKind(2), AskKind(99), Text("done"))
	if got := newBare(t, s).run("Hi"); got.err != nil || got.text != "done" {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	wantRules(t, s)
}

func TestBlobs(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	data := []byte("some data")
	s.Script(
		SetBlob(data), GetBlob(BlobID(data), func(got []byte) error {
			if !bytes.Equal(got, data) {
				return fmt.Errorf("got %q", got)
			}
			return nil
		}),
		MissingBlob(), Text("done"), End(Counters{}), SetBlob([]byte("late")),
	)
	if got := b.run("Hi"); got.err != nil || got.text != "done" || b.blobs[string(BlobID([]byte("late")))] == nil {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	s.Script(GetBlob(BlobID([]byte("never given"))))
	if got := b.run("Hi"); got.err == nil || !strings.Contains(got.err.Error(), "Blob not found") {
		t.Errorf("error %v, want Blob not found", got.err)
	}
	wantRules(t, s)
}

func TestServerHeartbeatsAndSilence(t *testing.T) {
	s := start(t, Options{})
	s.ChangeRunRules(func(r *RunRules) { r.ServerHeartbeat = time.Millisecond })
	enough := make(chan struct{})
	b := newBare(t, s)
	b.handle = func(run *turn, m *cursorpb.AgentServerMessage) bool {
		if m.GetInteractionUpdate().GetHeartbeat() != nil && run.beats == 2 {
			close(enough)
		}
		return false
	}
	s.Script(Until(enough))
	if got := b.run("Hi"); got.beats < 3 {
		t.Errorf("%d heartbeats", got.beats)
	}
	b.handle = nil
	s.Script(Mute(), Text("a"), Pause(20*time.Millisecond), Text("b"))
	got := b.run("Hi")
	if i, j := slices.Index(got.kinds, "text_delta"), len(got.kinds); j-i != 3 || got.text != "ab" {
		t.Errorf("there was no silence: %q", got.kinds)
	}
	wantRules(t, s)
}

func TestFailures(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	for name, want := range Failures() {
		s.Script(Text("so far"), Fail(Failure(name)))
		got := b.run("Hi")
		var e *connect.Error
		if got.text != "so far" || !connectAs(got.err, &e) || e.Code().String() != want.Code || e.Message() != want.Message {
			t.Errorf("%s: text %q, error %v", name, got.text, got.err)
			continue
		}
		details := 0
		if want.Reason != "" {
			details++
		}
		if want.RetryAfter > 0 {
			details++
		}
		if len(e.Details()) != details {
			t.Errorf("%s: %d details, want %d", name, len(e.Details()), details)
		}
	}
	wantRules(t, s)
}

func TestHTTPErrorsOfRuns(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	if err := s.Inject(Fault{Kind: FaultStatus, Route: RunPath, Status: 503, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if got := b.run("Hi"); got.status != 503 || got.err == nil {
		t.Errorf("status %d, error %v", got.status, got.err)
	}
	s.RevokeAccess(DefaultUser)
	if got := b.run("Hi"); got.status != 401 || got.err == nil {
		t.Errorf("status %d, error %v", got.status, got.err)
	}
	wantRules(t, s)
	got := overHTTP1(t, s).do(http.MethodPost, agent+RunPath, logIn(t, s).Access, "")
	if got.status != 464 {
		t.Errorf("status %d over HTTP/1.1, want 464", got.status)
	}
	if rules := broken(t, s); !slices.Contains(rules, "http-version") {
		t.Errorf("broken rules: %q", rules)
	}
}

func TestBreakingOff(t *testing.T) {
	s := start(t, Options{})
	for name, step := range map[string]Step{
		"close": Close(), "reset": Reset(), "connection": ResetConnection(), "trailers": Trailers(14, "no: 100 % gone"),
		"huge": Steps(HugeFrame(70<<20), Close()), "part of a frame": Steps(Bytes([]byte{0, 0, 0}), Close()),
	} {
		b := newBare(t, s)
		s.Script(Text("so far"), step)
		got := b.run("Hi")
		// A reset takes along what the client has not read yet.
		if got.text != "so far" && name != "connection" || got.err == nil || got.ended != nil {
			t.Errorf("%s: text %q, error %v", name, got.text, got.err)
		}
		if name == "trailers" && (got.trailer.Get("Grpc-Status") != "14" || got.trailer.Get("Grpc-Message") != "no: 100 %25 gone") {
			t.Errorf("trailers %v", got.trailer)
		}
	}
	for _, record := range awaitEnd(t, s, 6) {
		if record.Outcome != OutcomeCut {
			t.Errorf("outcome %s, want cut", record.Outcome)
		}
	}
	wantRules(t, s)
}

func TestFrames(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s).offer("echo", readSchema)
	b.result = func(*cursorpb.McpArgs) string { return "ok" }
	s.Script(
		Gzipped(Text("packed ")), EmptyFrame(),
		Cut(1, Text("cut "), SetBlob([]byte("a blob")), Call("echo", "{}")),
		Joined(Text("joined "), Text("pair "), SetBlob([]byte("another")), Text("end")),
	)
	got := b.run("Hi")
	if got.err != nil || got.text != "packed cut joined pair end" || len(b.blobs) != 2 {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	if !slices.Contains(got.kinds, "nothing") {
		t.Errorf("the empty frame did not arrive: %q", got.kinds)
	}
	wantRules(t, s)
}

// TestGoAway: the run goes on, the next one has another connection.
func TestGoAway(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	s.Script(Text("a"), GoAway(), Pause(10*time.Millisecond), Text("b"))
	if got := b.run("Hi"); got.err != nil || got.text != "ab" {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	s.Script(Text("c"))
	if got := b.run("Hi"); got.err != nil || got.text != "c" {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	if records := awaitEnd(t, s, 2); records[0].Peer == records[1].Peer {
		t.Error("both runs had one connection")
	}
	wantRules(t, s)
}

// TestSlowReader: answers wait in order while the server does not read.
func TestSlowReader(t *testing.T) {
	s := start(t, Options{StreamWindow: 2048})
	b := newBare(t, s)
	var ids [][]byte
	for range 50 {
		data := make([]byte, 4096)
		_, _ = rand.Read(data)
		b.blobs[string(BlobID(data))] = data
		ids = append(ids, BlobID(data))
	}
	stuck := make(chan struct{})
	s.Script(StopReading(), RequestBlobs(ids...), Text("asked"), Until(stuck), ReadAgain(), GetBlobs(ids...), Text(" and answered"))
	b.handle = func(_ *turn, m *cursorpb.AgentServerMessage) bool {
		if m.GetKvServerMessage() != nil && stuck != nil { // its answer blocks
			close(stuck)
			stuck = nil
		}
		return false
	}
	if got := b.run("Hi"); got.err != nil || got.text != "asked and answered" {
		t.Errorf("text %q, error %v", got.text, got.err)
	}
	wantRules(t, s)
}

func TestStreamForBenchmarks(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	s.Script(Stream(Deltas{Count: 5000, Size: 8}))
	if got := b.run("Hi"); got.err != nil || len(got.text) != 40_000 {
		t.Errorf("%d bytes, error %v", len(got.text), got.err)
	}
	before := time.Now()
	s.Script(Stream(Deltas{Count: 10, Size: 24, Every: time.Millisecond, Stamp: true}))
	got := b.run("Hi")
	if len(got.text) != 240 {
		t.Fatalf("%d bytes, error %v", len(got.text), got.err)
	}
	last := before
	for i := range 10 {
		at, ok := StampOf(got.text[i*24:])
		if !ok || at.Before(last) || at.After(time.Now()) {
			t.Errorf("delta %d has the stamp %v", i, at)
		}
		last = at
	}
	if last.Sub(before) < 9*time.Millisecond {
		t.Errorf("10 deltas took %v", last.Sub(before))
	}
	wantRules(t, s)
}

func TestCancelledRuns(t *testing.T) {
	s := start(t, Options{})
	b := newBare(t, s)
	s.Script(Text("a"), Hang())
	run := b.open("Hi")
	for run.text == "" && run.next() {
	}
	left := time.Now()
	run.leave()
	record := awaitEnd(t, s, 1)[0]
	if record.Outcome != OutcomeLeft || record.Ended.Before(left) || record.Ended.Sub(left) > 10*time.Second {
		t.Errorf("outcome %s, %v after the client left", record.Outcome, record.Ended.Sub(left))
	}

	s.Script(Text("a"), Hang())
	run = b.open("Hi")
	for run.text == "" && run.next() {
	}
	run.send(&cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ConversationAction{ConversationAction: &cursorpb.ConversationAction{
		Action: &cursorpb.ConversationAction_CancelAction{CancelAction: &cursorpb.CancelAction{}},
	}}})
	if run.play(); run.ended != nil {
		t.Error("a cancelled turn ended well")
	}
	record = awaitEnd(t, s, 2)[1]
	if record.Outcome != OutcomeCanceled || record.CancelAction.IsZero() {
		t.Errorf("outcome %s", record.Outcome)
	}
	if stats := s.RunStats(); stats.Total != 2 || stats.Ended[OutcomeLeft] != 1 || stats.Ended[OutcomeCanceled] != 1 || stats.MaxOpen != 1 {
		t.Errorf("counters %+v", stats)
	}
	wantRules(t, s)
}
