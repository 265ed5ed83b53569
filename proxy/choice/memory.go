package choice

import (
	"container/list"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	// memoryLife is how long a conversation is remembered after its last turn,
	// which is as long as a back-end keeps its own state.
	memoryLife = 24 * time.Hour
	maxKeys    = 16384
)

// talk is a conversation: its way, and a name for those ways that have none.
type talk struct {
	way  *way
	name string
}

// memory knows conversations by what clients send back of them: the ids of
// calls, the answers together with the first message of the user, and the
// client's own id. Any of it will do. Two conversations that cannot be told
// apart that way share theirs, which does no harm.
type memory struct {
	seed maphash.Seed
	life time.Duration

	mu    sync.Mutex
	keys  map[key]*list.Element // of *entry
	order *list.List            // the one that was used last in front
	names int
}

// key is the hash of one such thing, so that nothing of a conversation is kept.
type key uint64

type entry struct {
	key  key
	talk talk
	used time.Time
}

func newMemory() memory {
	return memory{seed: maphash.MakeSeed(), life: memoryLife, keys: make(map[key]*list.Element), order: list.New()}
}

// The kinds of keys.
const (
	callKey    = 'c'
	answerKey  = 'a'
	sessionKey = 's'
)

// find returns the conversation that a request goes on with.
func (m *memory) find(req *chat.Request) (talk, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	begin := m.beginning(req)
	for i := len(req.Messages) - 1; i >= 0; i-- {
		message := req.Messages[i]
		answer := m.answer(begin)
		said := false
		for _, part := range message.Parts {
			id := ""
			switch part := part.(type) {
			case chat.ToolUse:
				id = part.ID
			case chat.ToolResult:
				id = part.CallID
			case chat.Text:
				if message.Role == chat.Assistant {
					said = addText(&answer, part.Text) || said
				}
			}
			if id != "" {
				if t, ok := m.get(m.key(callKey, id)); ok {
					return t, true
				}
			}
		}
		if said {
			if t, ok := m.get(key(answer.Sum64())); ok {
				return t, true
			}
		}
	}
	if req.Session == "" {
		return talk{}, false
	}
	return m.get(m.key(sessionKey, req.Session))
}

// get needs m.mu, like the next ones.
func (m *memory) get(k key) (talk, bool) {
	e, ok := m.keys[k]
	if !ok {
		return talk{}, false
	}
	found := e.Value.(*entry)
	if time.Since(found.used) > m.life {
		m.order.Remove(e)
		delete(m.keys, k)
		return talk{}, false
	}
	return found.talk, true
}

func (m *memory) put(k key, t talk) {
	if e, ok := m.keys[k]; ok {
		*e.Value.(*entry) = entry{k, t, time.Now()}
		m.order.MoveToFront(e)
		return
	}
	m.keys[k] = m.order.PushFront(&entry{k, t, time.Now()})
	if m.order.Len() > maxKeys {
		last := m.order.Back()
		delete(m.keys, last.Value.(*entry).key)
		m.order.Remove(last)
	}
}

func (m *memory) key(kind byte, text string) key {
	h := m.hash(kind)
	h.WriteString(text)
	return key(h.Sum64())
}

func (m *memory) hash(kind byte) maphash.Hash {
	var h maphash.Hash
	h.SetSeed(m.seed)
	h.WriteByte(kind)
	return h
}

// beginning stands for the first message of the user.
func (m *memory) beginning(req *chat.Request) uint64 {
	h := m.hash('b')
	for _, message := range req.Messages {
		if message.Role != chat.User {
			continue
		}
		for _, part := range message.Parts {
			if text, ok := part.(chat.Text); ok {
				addText(&h, text.Text)
			}
		}
		break
	}
	return h.Sum64()
}

// answer begins the hash of an answer.
func (m *memory) answer(begin uint64) maphash.Hash {
	h := m.hash(answerKey)
	maphash.WriteComparable(&h, begin)
	return h
}

// addText adds what is no white space, since clients send text back without
// some of it. It tells whether there was anything.
func addText(h *maphash.Hash, text string) (any bool) {
	start := -1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\n', '\r':
			if start >= 0 {
				h.WriteString(text[start:i])
				start = -1
			}
		default:
			any = true
			if start < 0 {
				start = i
			}
		}
	}
	if start >= 0 {
		h.WriteString(text[start:])
	}
	return any
}

// notes are what a turn leaves in the memory.
type notes struct {
	m       *memory
	talk    talk
	session string
	answer  maphash.Hash
	said    bool
}

func (m *memory) note(t talk, req *chat.Request) *notes {
	return &notes{m: m, talk: t, session: req.Session, answer: m.answer(m.beginning(req))}
}

// take remembers what an event says, before the client knows it. It gives the
// last event a name of the conversation if it has none.
func (n *notes) take(event chat.Event) chat.Event {
	switch e := event.(type) {
	case chat.TextDelta:
		n.said = addText(&n.answer, e.Text) || n.said
	case chat.ToolCall:
		n.m.mu.Lock()
		defer n.m.mu.Unlock()
		n.named("")
		n.m.put(n.m.key(callKey, e.ID), n.talk)
	case chat.Finish:
		n.m.mu.Lock()
		defer n.m.mu.Unlock()
		n.named(e.Conversation)
		e.Conversation = n.talk.name
		if n.said {
			n.m.put(key(n.answer.Sum64()), n.talk)
		}
		if n.session != "" {
			n.m.put(n.m.key(sessionKey, n.session), n.talk)
		}
		return e
	}
	return event
}

// named takes the back-end's name of the conversation, or else makes one. It
// needs m.mu.
func (n *notes) named(name string) {
	switch {
	case name != "":
		n.talk.name = name
	case n.talk.name == "":
		n.m.names++
		n.talk.name = n.talk.way.ID + "-" + strconv.Itoa(n.m.names)
	}
}
