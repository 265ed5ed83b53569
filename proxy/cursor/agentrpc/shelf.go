package agentrpc

import (
	"slices"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// shelf holds the conversations that no run has, by what they are about: two
// that begin alike are never mixed up, because each is taken by one run only
// and put back under the messages that it then stands for.
type shelf struct {
	times timing
	disk  *snapshots // nil keeps nothing on disk

	mu      sync.Mutex
	age     int       // how often it was cleared
	looked  time.Time // for those that are too old
	timer   *time.Timer
	closed  bool
	byPrint map[fingerprint][]*conversation

	expiring sync.WaitGroup // the timer, from its start to the end of what it does
}

const (
	maxShelved      = 256
	maxShelvedBytes = 256 << 20
)

func newShelf(times timing, disk *snapshots) *shelf {
	s := &shelf{times: times, disk: disk, byPrint: make(map[fingerprint][]*conversation)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake() // for what lies on disk
	return s
}

// take removes and returns the conversation whose state stands for the most
// messages of a request, and for how many. What is left has to be words of the
// user only, or nothing if the state is within a turn. A history that is new,
// or was rewritten, gets a new conversation.
func (s *shelf) take(messages []chat.Message, prints []fingerprint, session string) (*conversation, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(time.Now())
	for known := len(messages); known > 0; known-- {
		if known < len(messages) && !isPlain(messages[known]) {
			break
		}
		resume := known == len(messages)
		if c := s.find(prints[known], session, resume); c != nil {
			s.remove(c)
			s.disk.lend(c.id)
			return c, known
		}
		if c := s.disk.load(prints[known], resume); c != nil {
			c.age = s.age
			return c, known
		}
	}
	c := newConversation(session)
	c.age = s.age
	return c, 0
}

// find prefers a conversation of the same session. It needs s.mu.
func (s *shelf) find(print fingerprint, session string, resume bool) *conversation {
	var found *conversation
	for _, c := range s.byPrint[print] {
		if c.resume == resume && (found == nil || c.session == session) {
			found = c
		}
	}
	return found
}

// put gives a conversation back.
func (s *shelf) put(c *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.used = time.Now()
	if c.age != s.age {
		return
	}
	s.expire(c.used)
	s.byPrint[c.print] = append(s.byPrint[c.print], c)
	s.shrink()
	s.wake()
}

// wake sees to it that old conversations go also when nobody comes any more. It
// needs s.mu.
func (s *shelf) wake() {
	if s.timer != nil || s.closed || len(s.byPrint) == 0 && s.disk.empty() {
		return
	}
	s.expiring.Add(1)
	s.timer = time.AfterFunc(s.times.idle+s.times.idle/60, func() {
		defer s.expiring.Done()
		s.disk.tidy(time.Now())
		s.mu.Lock()
		defer s.mu.Unlock()
		s.expire(time.Now())
		s.timer = nil
		s.wake()
	})
}

// close ends the timer. Nothing may be put back any more.
func (s *shelf) close() {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil && s.timer.Stop() {
		s.expiring.Done()
	}
	s.mu.Unlock()
	s.expiring.Wait()
	s.disk.close()
}

// replaces removes the conversations of a session that one with other history
// took the place of: the client has rewritten it.
func (s *shelf) replaces(c *conversation) {
	if c.session == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range s.all() {
		if old != c && old.session == c.session && old.surroundings == c.surroundings {
			s.remove(old)
			s.disk.remove(old.id)
		}
	}
}

// copyOf copies a conversation that is about to settle. A turn that waited for
// that may have given up and be putting it back.
func (s *shelf) copyOf(c *conversation) *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.copied()
}

// save keeps a conversation on disk.
func (s *shelf) save(c *conversation) {
	s.disk.later(c)
	s.disk.back(c.id)
}

// clear forgets everything, on disk too.
func (s *shelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age++
	clear(s.byPrint)
	s.disk.clear(s.age)
}

// remove, all, expire and shrink need s.mu.
func (s *shelf) remove(c *conversation) {
	left := slices.DeleteFunc(s.byPrint[c.print], func(other *conversation) bool { return other == c })
	if len(left) == 0 {
		delete(s.byPrint, c.print)
		return
	}
	s.byPrint[c.print] = left
}

func (s *shelf) all() []*conversation {
	var all []*conversation
	for _, list := range s.byPrint {
		all = append(all, list...)
	}
	return all
}

func (s *shelf) expire(now time.Time) {
	if now.Sub(s.looked) < s.times.idle/60 {
		return
	}
	s.looked = now
	for _, c := range s.all() {
		if now.Sub(c.used) > s.times.idle {
			s.remove(c)
		}
	}
}

// shrink keeps the newest within the limits. One that is not settled yet is
// counted when it is.
func (s *shelf) shrink() {
	for {
		number, total := 0, 0
		var oldest *conversation
		for _, list := range s.byPrint {
			for _, c := range list {
				if !c.isSettled() {
					continue
				}
				number, total = number+1, total+c.size()
				if oldest == nil || c.used.Before(oldest.used) {
					oldest = c
				}
			}
		}
		if number <= maxShelved && total <= maxShelvedBytes {
			return
		}
		s.remove(oldest)
	}
}
