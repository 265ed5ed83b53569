package simserver

import (
	"context"
	"encoding/hex"
	"testing"

	"cursortray/proxy/cursor/cursorpb"
)

// FuzzRunMessages: whatever a client writes is judged, and nothing else happens.
func FuzzRunMessages(f *testing.F) {
	s, err := Start(context.Background(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Error(err)
		}
	})
	for _, frame := range []string{ // each whole, without its head
		"0a210a00120e0a0c0a0a0a02486912026d3120012a0263314a090a0764656661756c74", // run request
		"3a00", "2a040a020801", "2a041a020801", "2a2712250809120b756e737570706f727465642214756e6b6e6f776e5f657865635f76617269616e74",
		"121208025a0a0a080a060a040a026f6b7a026532", "121708043a0f1a0d0a072f772f612e676f12026e6f7a026534",
		"121808011a00", "1a0a080712060a0464617461", "1a0408071200", "1a0408081a00", "321508031211120f0a0d6e6f7420617661696c61626c65", "22021a00",
	} {
		raw, err := hex.DecodeString(frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(appendFrame(nil, 0, raw))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := newFuzzRun(t, s)
		heads := 0
		scan := envelopes{begun: func(byte) { heads++ }}
		scan.scan(stream)
		whole := envelopes{begun: func(byte) { heads-- }}
		for i := range stream {
			whole.scan(stream[i : i+1])
		}
		if heads != 0 || scan.have != whole.have || scan.left != whole.left {
			t.Error("an envelope depends on where the stream is cut")
		}
		for len(stream) >= 5 && r.ctx.Err() == nil {
			size := min(len(stream)-5, int(stream[4])|int(stream[3])<<8)
			m := &inbound{}
			if err := (runCodec{}).Unmarshal(stream[5:5+size], m); err != nil {
				t.Fatal(err)
			}
			r.take(m)
			stream = stream[5+size:]
		}
		if r.request != nil {
			r.checkOpening()
		}
	})
}

// newFuzzRun is a run on which one thing of each kind is asked.
func newFuzzRun(t *testing.T, s *Sim) *Run {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	r := &Run{
		sim: s, call: &call{r: newClient(t, s).request("POST", agent+RunPath, "", "")}, rules: s.RunRules(),
		opened: make(chan struct{}), read: make(chan struct{}), ctx: ctx, cancel: cancel, talk: s.runs.talk("c1"),
	}
	read := &cursorpb.ExecServerMessage{Id: 4, ExecId: "e4", Message: &cursorpb.ExecServerMessage_ReadArgs{}}
	call := &cursorpb.ExecServerMessage{Id: 2, ExecId: "e2", Message: &cursorpb.ExecServerMessage_McpArgs{}}
	context := &cursorpb.ExecServerMessage{Id: 1, ExecId: "e1", Message: &cursorpb.ExecServerMessage_RequestContextArgs{}}
	shell := &cursorpb.ExecServerMessage{Id: 5, ExecId: "e5", Message: &cursorpb.ExecServerMessage_ShellStreamArgs{}}
	for _, m := range []*cursorpb.ExecServerMessage{read, call, context, shell, {Id: 9}} {
		e := &Exec{run: r, request: m, done: make(chan struct{}), replied: make(chan struct{})}
		e.kind, e.want = resultOf(m)
		r.execs = append(r.execs, e)
	}
	r.kvs = []*blobRequest{
		{run: r, id: 7, message: &cursorpb.KvServerMessage{Message: &cursorpb.KvServerMessage_GetBlobArgs{}}, done: make(chan struct{})},
		{run: r, id: 8, message: &cursorpb.KvServerMessage{Message: &cursorpb.KvServerMessage_SetBlobArgs{}}, done: make(chan struct{})},
	}
	r.queries = []*Query{{run: r, message: &cursorpb.InteractionQuery{Id: 3}, number: 2, done: make(chan struct{})}}
	return r
}
