package agentrpc

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	pb "cursortray/proxy/cursor/cursorpb"
)

// graph is a blob store with a checkpoint that refers to all of it but one.
type graph struct {
	store blobStore
	state *pb.ConversationStateStructure
}

func (g *graph) add(t *testing.T, content any) []byte {
	t.Helper()
	data, ok := content.([]byte)
	if !ok {
		var err error
		if data, err = proto.Marshal(content.(proto.Message)); err != nil {
			t.Fatal(err)
		}
	}
	b := newBlob(data)
	g.store.set(b.id, b.data)
	return b.id
}

func newGraph(t *testing.T) *graph {
	g := &graph{}
	image := g.add(t, []byte("image"))
	user := g.add(t, &pb.UserMessage{Text: "hi", SelectedContext: &pb.SelectedContext{SelectedImages: []*pb.SelectedImage{
		{DataOrBlobId: &pb.SelectedImage_BlobId{BlobId: image}}}}})
	step := g.add(t, []byte("step"))
	turn := g.add(t, &pb.ConversationTurnStructure{Turn: &pb.ConversationTurnStructure_AgentConversationTurn{
		AgentConversationTurn: &pb.AgentConversationTurnStructure{UserMessage: user, Steps: [][]byte{step}}}})
	shell := g.add(t, &pb.ConversationTurnStructure{Turn: &pb.ConversationTurnStructure_ShellConversationTurn{
		ShellConversationTurn: &pb.ShellConversationTurnStructure{ShellCommand: g.add(t, []byte("ls")), ShellOutput: g.add(t, []byte("a b"))}}})
	archive := g.add(t, &pb.ConversationSummaryArchive{SummarizedMessages: [][]byte{g.add(t, []byte("old"))}, SummaryMessage: g.add(t, []byte("short"))})
	inner := &pb.ConversationStateStructure{RootPromptMessagesJson: [][]byte{g.add(t, []byte("inner prompt"))}}
	reference := g.add(t, &pb.SubagentPersistedState{ConversationState: &pb.ConversationStateStructure{Todos: [][]byte{g.add(t, []byte("inner todo"))}}})
	g.state = &pb.ConversationStateStructure{
		RootPromptMessagesJson: [][]byte{g.add(t, []byte(`{"role":"user"}`)), []byte(`{"role":"system"}`)},
		Todos:                  [][]byte{g.add(t, []byte("todo"))},
		Summary:                g.add(t, []byte("summary")),
		Plan:                   g.add(t, []byte("plan")),
		Turns:                  [][]byte{turn, shell},
		SummaryArchives:        [][]byte{archive},
		SubagentStates:         map[string]*pb.SubagentPersistedState{"a": {ConversationState: inner}},
		SubagentStateRefs:      map[string][]byte{"b": reference},
		FileStatesV2:           map[string]*pb.FileStateStructure{"f": {Content: g.add(t, []byte("file"))}, "g": {Content: []byte("text of a file")}},
	}
	return g
}

func (g *graph) checkpoint(t *testing.T) []byte {
	t.Helper()
	data, err := proto.Marshal(g.state)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestR10_OnlyReachableBlobsAreKept(t *testing.T) {
	g := newGraph(t)
	want := len(g.store.data)
	g.add(t, []byte("of an older checkpoint"))
	c := &conversation{blobs: g.store}
	checkpoint := g.checkpoint(t)
	c.commit(checkpoint)
	if !bytes.Equal(c.state, checkpoint) {
		t.Fatal("the checkpoint was not taken")
	}
	if len(c.blobs.data) != want {
		t.Errorf("%d blobs are left, want %d", len(c.blobs.data), want)
	}
	total := 0
	for _, data := range c.blobs.data {
		total += len(data)
	}
	if total != c.blobs.bytes {
		t.Errorf("%d bytes are counted, there are %d", c.blobs.bytes, total)
	}
}

// Whatever blob is missing, nobody knows what it would have referred to.
func TestR10_MissingReferenceKeepsEverything(t *testing.T) {
	complete := newGraph(t)
	for id := range complete.store.data {
		if string(complete.store.data[id]) == "file" {
			continue // may be an id, or not
		}
		g := newGraph(t)
		extra := g.add(t, []byte("extra"))
		delete(g.store.data, id)
		r := reachable(&g.store, g.checkpoint(t))
		before := len(g.store.data)
		g.store.trim(r)
		if r.whole || len(g.store.data) != before || g.store.data[string(extra)] == nil {
			t.Errorf("without %q: whole %v, %d of %d blobs left", complete.store.data[id], r.whole, len(g.store.data), before)
		}
	}
}

// Blobs of the service can have any shape.
func TestReachOfNonsense(t *testing.T) {
	if r := reachable(&blobStore{}, []byte("\xff\xff")); r.whole {
		t.Error("a broken checkpoint is whole")
	}
	g := &graph{}
	state := &pb.ConversationStateStructure{Turns: [][]byte{g.add(t, []byte("\xff\xff"))}}
	data, err := proto.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if r := reachable(&g.store, data); r.whole {
		t.Error("a broken turn is whole")
	}
	deep := &pb.ConversationStateStructure{}
	for range 2 * maxDepth {
		deep = &pb.ConversationStateStructure{SubagentStates: map[string]*pb.SubagentPersistedState{"a": {ConversationState: deep}}}
	}
	if data, err = proto.Marshal(deep); err != nil {
		t.Fatal(err)
	}
	if r := reachable(&blobStore{}, data); r.whole {
		t.Error("an endless state is whole")
	}
}

func TestR11_StateThatIsTooLargeIsNotKept(t *testing.T) {
	c := newConversation("")
	state := &pb.ConversationStateStructure{}
	shared := make([]byte, 1<<20)
	for i := range 101 {
		id := sha256.Sum256([]byte{byte(i)})
		c.blobs.set(id[:], shared)
		state.RootPromptMessagesJson = append(state.RootPromptMessagesJson, id[:])
	}
	data, err := proto.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if c.commit(data); c.state != nil || c.blobs.bytes != 0 {
		t.Errorf("a state of %d bytes was kept", c.size())
	}
}

// checkpointTurn answers and leaves a state of a blob behind, or of one that
// was never given.
func checkpointTurn(given bool) func(*session) error {
	return func(s *session) error {
		b := newBlob(fmt.Appendf(nil, "prompt of run %d", s.n))
		if given {
			if err := s.setBlob(1, b.id, b.data); err != nil {
				return err
			}
			if _, err := s.next(); err != nil {
				return err
			}
		}
		if err := s.say(fmt.Sprint("answer ", s.n)); err != nil {
			return err
		}
		state := used(1234, 200000)
		if s.n == 2 {
			state.TokenDetails = nil
		}
		state.RootPromptMessagesJson = [][]byte{b.id}
		if err := s.checkpoint(state); err != nil {
			return err
		}
		return s.end(&pb.TurnEndedUpdate{InputTokens: proto.Int64(90000), OutputTokens: proto.Int64(34), CacheReadTokens: proto.Int64(80000)})
	}
}

// talk runs turns of one conversation and returns their answers.
func (b *bench) talk(t *testing.T, req *chat.Request, turns int) (*chat.Request, []answer) {
	t.Helper()
	var all []answer
	for i := range turns {
		a := b.ask(t, req)
		if a.finish == nil {
			t.Fatalf("turn %d gave %+v, %v", i, a, a.err)
		}
		all = append(all, a)
		req = with(req, a, chat.Text{Text: fmt.Sprint("question ", i+2)})
	}
	return req, all
}

func TestNextTurnSendsTheCheckpointAsItCame(t *testing.T) {
	b := newBench(t, checkpointTurn(true))
	b.talk(t, words("question 1"), 3)
	runs := b.service.seen()
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	state := used(1234, 200000)
	state.RootPromptMessagesJson = [][]byte{newBlob([]byte("prompt of run 1")).id}
	want, err := proto.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(runs[1].GetConversationState(), want) {
		t.Errorf("the state of the second run is %x", runs[1].GetConversationState())
	}
	for i, r := range runs {
		if r.GetConversationId() != runs[0].GetConversationId() {
			t.Errorf("run %d has another id", i)
		}
		if text := r.GetAction().GetUserMessageAction().GetUserMessage().GetText(); text != fmt.Sprint("question ", i+1) {
			t.Errorf("run %d says %q", i, text)
		}
	}
}

func TestR11_MissingReferenceRotates(t *testing.T) {
	b := newBench(t, checkpointTurn(false))
	_, answers := b.talk(t, words("question 1"), 2)
	runs := b.service.seen()
	if runs[0].GetConversationId() == runs[1].GetConversationId() {
		t.Error("the id of a conversation that cannot go on is used again")
	}
	if answers[0].finish.Conversation != answers[1].finish.Conversation {
		t.Error("the user sees two conversations")
	}
}

// The service asked for something that is not there: it has forgotten a part
// without saying so.
func TestMissingBlobRotates(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if err := s.getBlob(7, bytes.Repeat([]byte{1}, 32)); err != nil {
			return err
		}
		m, err := s.next()
		if err != nil {
			return err
		}
		if r := m.GetKvClientMessage(); r.GetId() != 7 || r.GetGetBlobResult() == nil || r.GetGetBlobResult().BlobData != nil {
			return failure(3)
		}
		return checkpointTurn(true)(s)
	})
	b.talk(t, words("question 1"), 2)
	if runs := b.service.seen(); runs[0].GetConversationId() == runs[1].GetConversationId() {
		t.Error("the conversation goes on although a part of it is lost")
	}
}

func TestR13_TokenDetailsAreTheContext(t *testing.T) {
	b := newBench(t, checkpointTurn(true))
	_, answers := b.talk(t, words("question 1"), 3)
	for i, want := range []*chat.Context{{Used: 1234, Max: 200000}, {Used: 1234, Max: 200000, Stale: true}, {Used: 1234, Max: 200000}} {
		if diff := cmp.Diff(want, answers[i].finish.Context); diff != "" {
			t.Errorf("turn %d (-want +got):\n%s", i+1, diff)
		}
	}
	// Input and output are the size of the conversation where that is known.
	if u := answers[0].finish.Usage; u.Input+u.CacheRead+u.CacheWrite+u.Output != 1234 || u.Output != 34 {
		t.Errorf("usage %+v", u)
	}
	// What is paid for are the sums of all calls of the model.
	if u := answers[0].finish.Paid(); u.Input != 10000 || u.CacheRead != 80000 || u.Output != 34 {
		t.Errorf("to be paid %+v", u)
	}
	if u := answers[1].finish.Usage; u.Input != 10000 || u.CacheRead != 80000 || u.Output != 34 {
		t.Errorf("usage without token details %+v", u)
	}
}

func TestR17_FiguresAreNeverMadeUp(t *testing.T) {
	i := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		end  *pb.TurnEndedUpdate
		now  occupancy
		want *chat.Usage
	}{
		"nothing":           {&pb.TurnEndedUpdate{}, occupancy{Known: true, Used: 5}, nil},
		"no cache":          {&pb.TurnEndedUpdate{InputTokens: i(10), OutputTokens: i(2)}, occupancy{}, &chat.Usage{Input: 10, Output: 2}},
		"input has cache":   {&pb.TurnEndedUpdate{InputTokens: i(100), OutputTokens: i(20), CacheReadTokens: i(60), ReasoningTokens: i(7)}, occupancy{}, &chat.Usage{Input: 40, CacheRead: 60, Output: 20, Reasoning: 7}},
		"cache is a sum":    {&pb.TurnEndedUpdate{InputTokens: i(900), OutputTokens: i(20), CacheReadTokens: i(800)}, occupancy{Known: true, Used: 120}, &chat.Usage{CacheRead: 100, Output: 20}},
		"written to cache":  {&pb.TurnEndedUpdate{InputTokens: i(100), CacheReadTokens: i(30), CacheWriteTokens: i(50)}, occupancy{}, &chat.Usage{Input: 20, CacheRead: 30, CacheWrite: 50}},
		"negative":          {&pb.TurnEndedUpdate{InputTokens: i(-4), OutputTokens: i(3)}, occupancy{}, &chat.Usage{Output: 3}},
		"more than fits":    {&pb.TurnEndedUpdate{InputTokens: i(9), OutputTokens: i(50)}, occupancy{Known: true, Used: 30}, &chat.Usage{Output: 30}},
		"details of a none": {&pb.TurnEndedUpdate{InputTokens: i(9), OutputTokens: i(5)}, occupancy{Known: true}, &chat.Usage{Input: 9, Output: 5}},
	} {
		if diff := cmp.Diff(c.want, usage(c.end, c.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOccupancyHasItsParts(t *testing.T) {
	state := used(10, 100)
	state.TokenDetails.Breakdown = &pb.PromptTokenBreakdownSnapshot{Categories: []*pb.PromptTokenBreakdownCategory{{Id: "tools", Label: "Tools", EstimatedTokens: 4}}}
	data, err := proto.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	want := &chat.Context{Used: 10, Max: 100, Parts: []chat.ContextPart{{ID: "tools", Label: "Tools", Tokens: 4}}}
	if diff := cmp.Diff(want, readOccupancy(data).context(false)); diff != "" {
		t.Error(diff)
	}
	if readOccupancy([]byte("\xff")).context(false) != nil || readOccupancy(nil).context(true) != nil {
		t.Error("a window out of nothing")
	}
}

// A client that shortened its history starts anew, with the same surroundings.
func TestR18_RewrittenHistoryRotates(t *testing.T) {
	b := newBench(t, checkpointTurn(true))
	req := words("question 1")
	req.Session, req.System = "s1", "Be brief."
	req.Tools = tools("read")
	b.talk(t, req, 2)
	short := *req
	short.Messages = words("summary of all", "understood", "question 9").Messages
	a := b.ask(t, &short)
	runs := b.service.seen()
	if len(runs) != 3 || runs[2].GetConversationId() == runs[1].GetConversationId() {
		t.Fatalf("%d runs, the last with the id of the one before", len(runs))
	}
	if a.text != "answer 3" {
		t.Errorf("got %+v", a)
	}
	var contexts [][]byte
	for _, r := range runs[1:] {
		encoded, err := pb.Codec{}.Marshal(r.GetAction().GetUserMessageAction().GetRequestContext())
		if err != nil {
			t.Fatal(err)
		}
		contexts = append(contexts, encoded)
	}
	if !bytes.Equal(contexts[0], contexts[1]) {
		t.Error("the request context has changed")
	}
	eventually(t, "the end of the old conversation", func() bool {
		b.shelf.mu.Lock()
		defer b.shelf.mu.Unlock()
		return len(b.shelf.all()) == 1
	})
}

func TestR9_RequestContextIsStableBetweenTurns(t *testing.T) {
	b := newBench(t, checkpointTurn(true))
	req := words("question 1")
	req.Tools = tools("read", "write", "bash")
	a := b.ask(t, req)
	next := with(req, a, chat.Text{Text: "question 2"})
	next.Tools = slices.Clone(next.Tools)
	slices.Reverse(next.Tools)
	b.ask(t, next)
	var contexts [][]byte
	for _, r := range b.service.seen() {
		encoded, err := pb.Codec{}.Marshal(r.GetAction().GetUserMessageAction().GetRequestContext())
		if err != nil {
			t.Fatal(err)
		}
		contexts = append(contexts, encoded)
	}
	if len(contexts) != 2 || len(contexts[0]) == 0 || !bytes.Equal(contexts[0], contexts[1]) {
		t.Error("the request context differs between two turns")
	}
}

// A turn that failed has not happened: the client asks again and the state is
// the one from before.
func TestFailedTurnLeavesTheStateAlone(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if s.n == 2 {
			if err := s.say("half"); err != nil {
				return err
			}
			return failure(14)
		}
		return checkpointTurn(true)(s)
	})
	req, _ := b.talk(t, words("question 1"), 1)
	if a := b.ask(t, req); a.err == nil {
		t.Fatalf("got %+v", a)
	}
	b.ask(t, req)
	runs := b.service.seen()
	if len(runs) != 3 || !bytes.Equal(runs[1].GetConversationState(), runs[2].GetConversationState()) || runs[1].GetConversationId() != runs[2].GetConversationId() {
		t.Errorf("%d runs with other states", len(runs))
	}
}

// While one turn of a conversation is under way, another one gets a
// conversation of its own.
func TestTwoTurnsAtOnceNeverShareAConversation(t *testing.T) {
	b := newBench(t, checkpointTurn(true))
	req, _ := b.talk(t, words("question 1"), 1)
	for e := range b.Chat(t.Context(), req) {
		if _, ok := e.(chat.TextDelta); ok {
			b.ask(t, req)
		}
	}
	runs := b.service.seen()
	if len(runs) != 3 || runs[1].GetConversationId() == runs[2].GetConversationId() {
		t.Errorf("%d runs, two of them with one id", len(runs))
	}
}

func TestBlobIDsThatAreTheContent(t *testing.T) {
	var s blobStore
	for id, want := range map[string]bool{`{"role":"user"}`: true, "": false, "\x00\x01": false, string(bytes.Repeat([]byte("a"), 32)): false} {
		if data, ok := s.get([]byte(id)); ok != want || ok && string(data) != id {
			t.Errorf("%q: %q, %v", id, data, ok)
		}
	}
	if m := s.answer(&pb.KvServerMessage{Id: 4}); m.GetKvClientMessage().GetId() != 4 {
		t.Error("a request of neither kind has no answer")
	}
}
