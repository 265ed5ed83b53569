package app

import (
	"slices"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

const (
	// conversationLife is how long a conversation is shown after its last turn:
	// as long as the back-ends go on with it.
	conversationLife = 24 * time.Hour
	maxConversations = 50
)

// Costs prices what turns used. *cursor.Prices does it. It may be called at any
// time from any goroutine.
type Costs interface {
	Cost(c cursor.Charge) (cursor.Cost, bool)
}

// Conversation is what is known of one conversation: figures, and nothing that
// was said in it.
type Conversation struct {
	N       int           // counts the conversations
	Model   string        // of the last turn, an id
	Routed  string        // the model that Cursor chose for that turn, for people; "" if it did not say
	Context *chat.Context // nil: never reported. It does not change.
	Turns   int           // that came to their end; a pause for a tool is none
	// Cost is what the turns would cost by the table of prices. Unpriced says
	// that there is no price for some of them, Rough that some may cost more.
	Cost            cursor.Money
	Unpriced, Rough bool
	Last            time.Time // end of the last turn
	// Course is how its window filled, oldest first. It does not change.
	Course []ContextPoint

	name string // the back-end's
}

// ConversationList is a list of conversations, the newest first. It does not
// change.
type ConversationList struct{ All []Conversation }

// Newest returns the one whose turn ended last, if there is one.
func (l *ConversationList) Newest() (Conversation, bool) {
	if l == nil || len(l.All) == 0 {
		return Conversation{}, false
	}
	return l.All[0], true
}

// conversations is the machine's hold on them.
type conversations struct {
	begun int
	all   []Conversation // the newest first
}

// turnEnded takes what a turn said at its end.
func (m *machine) turnEnded(req *chat.Request, f *chat.Finish, p priced) {
	if f.Conversation == "" {
		return
	}
	c := &m.talks
	conversation := Conversation{name: f.Conversation}
	if i := slices.IndexFunc(c.all, func(old Conversation) bool { return old.name == f.Conversation }); i >= 0 {
		conversation = c.all[i]
		c.all = slices.Delete(c.all, i, i+1)
	} else {
		c.begun++
		conversation.N = c.begun
	}
	conversation.Model, conversation.Routed, conversation.Last = m.modelID(req), f.Routed, time.Now()
	switch old := conversation.Context; {
	case f.Context != nil:
		conversation.Context = f.Context
		conversation.Course = extended(conversation.Course, f.Context, conversation.Last)
	case old != nil && !old.Stale:
		stale := *old
		stale.Stale = true
		conversation.Context = &stale
	}
	if f.Reason != chat.ToolCalls {
		conversation.Turns++
	}
	conversation.charge(p, f.Reason)
	m.showAges() // and again and again from now on
	c.all = slices.Insert(c.all, 0, conversation)
	c.all = c.all[:min(len(c.all), maxConversations)]
	m.showConversations()
}

// modelID is the id of the model that a request names, in whatever spelling.
func (m *machine) modelID(req *chat.Request) string {
	if catalog := m.app.catalog.Load(); catalog != nil {
		if selection, err := catalog.Resolve(req.Model, req.Effort); err == nil {
			return selection.ID
		}
	}
	return req.Model
}

// priced is what a turn costs by the table of prices.
type priced struct {
	cursor.Cost
	used  *chat.Usage // nil: it was not told what the turn used
	known bool        // there is a price
}

// price returns what a turn costs.
func (m *machine) price(model string, f *chat.Finish) priced {
	costs, p := m.app.cfg.Costs, priced{used: f.Paid()}
	if p.used == nil || costs == nil {
		return p
	}
	charge := cursor.Charge{Model: model, Usage: *p.used, Summed: true, Team: m.paysPerToken()}
	if f.Context != nil && !f.Context.Stale {
		charge.Prompt = f.Context.Used
	}
	p.Cost, p.known = costs.Cost(charge)
	if routed := charge; f.Routed != "" {
		// Some modes of Auto are billed by the model that was chosen, and nobody
		// says which mode it is.
		routed.Model = f.Routed
		if other, known := costs.Cost(routed); known && other.Money.Compare(p.Money) > 0 {
			p.Rough = true
		}
	}
	return p
}

// charge adds the price of a turn.
func (c *Conversation) charge(p priced, reason chat.Reason) {
	if p.used == nil {
		// A pause for a tool is counted at the end of its turn.
		c.Unpriced = c.Unpriced || reason != chat.ToolCalls
		return
	}
	c.Cost = c.Cost.Add(p.Money)
	c.Unpriced, c.Rough = c.Unpriced || !p.known, c.Rough || p.Rough
}

// paysPerToken tells whether the plan is one that has a fee on every token.
func (m *machine) paysPerToken() bool { return m.plan.latest.Team }

// showConversations shows those that are young enough.
func (m *machine) showConversations() {
	c := &m.talks
	c.all = slices.DeleteFunc(c.all, func(old Conversation) bool { return time.Since(old.Last) > conversationLife })
	if len(c.all) == 0 {
		m.snap.Conversations = nil
		return
	}
	m.snap.Conversations = &ConversationList{All: slices.Clone(c.all)}
}

// ageConversations drops old ones.
func (m *machine) ageConversations() {
	if list := m.talks.all; len(list) > 0 && time.Since(list[len(list)-1].Last) > conversationLife {
		m.showConversations()
	}
}

// forgetConversations is for another account.
func (m *machine) forgetConversations() {
	m.talks.all = nil
	m.showConversations()
}
