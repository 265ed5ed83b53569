package agentrpc

import "time"

// maxPostponed is how many delays a conversation waits at most for its file.
const maxPostponed = 10

// later saves a conversation in a while, or its next turn if that comes sooner:
// when no turn has ended for the delay, or for so long that it cannot wait any
// more. The disk is left alone while clients go from question to question, and
// the next answer does not compete with the file of the one before. A program
// that is killed meanwhile sends the history again.
func (s *snapshots) later(c *conversation) {
	if s == nil || c.state == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	if old := s.pending[c.id]; c.age != s.age || old != nil && old.turns > c.turns {
		return
	}
	s.pending[c.id] = c
	if s.timer != nil {
		if time.Since(s.waiting) < maxPostponed*s.delay && s.timer.Stop() {
			s.timer.Reset(s.delay)
		}
		return
	}
	s.waiting = time.Now()
	s.saving.Add(1)
	s.timer = time.AfterFunc(s.delay, func() {
		defer s.saving.Done()
		s.saveAll()
	})
}

// saveAll saves what is pending.
func (s *snapshots) saveAll() {
	for {
		s.mu.Lock()
		var next *conversation
		for _, next = range s.pending {
			break
		}
		if next == nil {
			s.timer = nil
		}
		s.mu.Unlock()
		if next == nil {
			return
		}
		s.save(next)
		s.mu.Lock()
		if s.pending[next.id] == next { // and no later turn
			delete(s.pending, next.id)
		}
		s.mu.Unlock()
	}
}

// close saves what is pending and waits for it. Nothing may be saved any more.
func (s *snapshots) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	early := s.timer != nil && s.timer.Stop()
	s.mu.Unlock()
	if early {
		s.saveAll()
		s.saving.Done()
	}
	s.saving.Wait()
}
