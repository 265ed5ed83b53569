package agentcli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	talkAge  = time.Hour
	maxTalks = 64
)

// digest identifies texts without keeping them.
type digest [sha256.Size]byte

// talkKey finds the chat that a request may continue.
type talkKey struct {
	workspace, model string
	first            digest // the first message of the user
}

// talk is a chat that the CLI keeps and that the next request of the same
// conversation can continue.
type talk struct {
	key   talkKey
	id    string // --resume takes it
	heard digest // the user's messages and tool results so far
	told  digest // system text and tools, which are not sent again
	place *workspace
	lease *lease // of the run that was the last
	child *child
	at    time.Time
}

// talks are the chats that can be continued, in memory only, the latest last. A
// talk that is taken is out until it is put back, so that a chat has one run at
// a time.
type talks struct {
	mu   sync.Mutex
	list []*talk
}

// take returns the talk that the request continues: the conversation before its
// new messages must be what the chat has heard. A shortened or edited history
// therefore starts a fresh chat.
func (s *talks) take(key talkKey, heard, told digest) *talk {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purge()
	for i, t := range s.list {
		if t.key == key && t.heard == heard && t.told == told {
			s.list = slices.Delete(s.list, i, i+1)
			return t
		}
	}
	return nil
}

// put keeps a talk and its folder.
func (s *talks) put(t *talk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.at = time.Now()
	t.place.keep(true)
	s.list = append(s.list, t)
	s.purge()
}

// purge forgets what is old or too much.
func (s *talks) purge() {
	old := max(len(s.list)-maxTalks, 0)
	for old < len(s.list) && time.Since(s.list[old].at) > talkAge {
		old++
	}
	for _, t := range s.list[:old] {
		t.place.keep(false)
		t.place.remove()
	}
	s.list = slices.Delete(s.list, 0, old)
}

// makePlan continues a chat where that is possible, else it begins one.
func (j *job) makePlan(ctx context.Context) (plan, *chat.Error) {
	if j.b.talks == nil {
		return j.freshPlan()
	}
	cut := lastAssistant(j.req.Messages)
	if cut < 0 {
		return j.freshPlan()
	}
	t := j.b.talks.take(j.talkKey(), heardDigest(j.req.Messages[:cut]), toldDigest(j.req))
	if t == nil {
		return j.freshPlan()
	}
	free := t.release(ctx)
	j.lease.onEnd(t.place.remove)
	if ctx.Err() != nil {
		return plan{}, chat.AsError(ctx.Err())
	}
	prompt, ok := deltaPrompt(j.req)
	if !ok || !free || !isFolder(t.place.dir) {
		return j.freshPlan()
	}
	return plan{place: t.place, prompt: prompt, resume: t.id}, nil
}

// release waits until the last run has let go of the chat and its folder; its
// process may linger. The folder is then the caller's to remove.
func (t *talk) release(ctx context.Context) (free bool) {
	t.child.hurry(hurriedGrace)
	patience := time.NewTimer(lingerGrace + killDelay)
	defer patience.Stop()
	select {
	case <-t.lease.ended:
		free = true
	case <-patience.C: // the former client does not take its last event
	case <-ctx.Done():
	}
	t.place.keep(false)
	return free
}

// startOver replaces a chat that is gone by a fresh one.
func (j *job) startOver() bool {
	config := j.plan.config
	fresh, err := j.freshPlan()
	if err != nil {
		return false
	}
	if config != "" {
		fresh.config = fresh.place.config
	}
	j.plan = fresh
	return true
}

// remember keeps the chat of a run that gave its result.
func (a *attempt) remember() {
	if a.b.talks == nil || !talkID().MatchString(a.session) || forItself(a.req) {
		return
	}
	a.b.talks.put(&talk{
		key: a.talkKey(), id: a.session, heard: heardDigest(a.req.Messages), told: toldDigest(a.req),
		place: a.plan.place, lease: a.lease, child: a.child,
	})
}

var talkID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
})

// forItself says whether a client asks for its own sake, as for the title of a
// conversation; such a chat is never continued.
func forItself(req *chat.Request) bool {
	return len(req.Tools) == 0 && strings.Contains(strings.ToLower(req.System), "title")
}

func (j *job) talkKey() talkKey {
	key := talkKey{workspace: j.req.Workspace, model: j.model}
	for _, m := range j.req.Messages {
		if m.Role == chat.User {
			key.first = heardDigest([]chat.Message{m})
			break
		}
	}
	return key
}

var goneChat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(session|chat|conversation|thread).*(not found|expired|deleted|missing|invalid)|` +
		`(not found|expired|deleted|missing|invalid).*(session|chat|conversation|thread)|` +
		`(failed|unable|could not|cannot).*resume`)
})

// chatGone says whether a run failed because its chat does not exist any more,
// and not for a cause that a fresh chat would meet as well.
func chatGone(f *failure) bool {
	switch f.class {
	case classAuth, classNetwork, classQuota, classDevices, classTimeout, classModel, classRateLimit:
		return false
	}
	return goneChat().MatchString(f.reason)
}

// heardDigest covers what the user and the tools said.
func heardDigest(messages []chat.Message) digest {
	h := sha256.New()
	for _, m := range messages {
		if m.Role == chat.User {
			addText(h, "message")
			addParts(h, m.Parts)
		}
	}
	return digest(h.Sum(nil))
}

func addParts(h hash.Hash, parts []chat.Part) {
	for _, part := range parts {
		switch p := part.(type) {
		case chat.Text:
			addText(h, "text", p.Text)
		case chat.Image:
			addText(h, "image", p.MIME, string(p.Data))
		case chat.ToolResult:
			addText(h, "result", p.CallID)
			addParts(h, p.Content)
		}
	}
}

// toldDigest covers what only the first prompt of a chat holds.
func toldDigest(req *chat.Request) digest {
	h := sha256.New()
	addText(h, req.System)
	if req.Choice.Mode != chat.ToolNone {
		for _, tool := range req.Tools {
			addText(h, tool.Name, tool.Description, string(tool.Schema))
		}
	}
	return digest(h.Sum(nil))
}

// addText writes texts so that their borders count.
func addText(h hash.Hash, texts ...string) {
	var size [8]byte
	for _, text := range texts {
		binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
}
