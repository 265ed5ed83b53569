package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"time"
)

const (
	linkLife = time.Minute
	// sessionLife is how long a browser that is not used is remembered.
	sessionLife = 24 * time.Hour
	// More than these are nobody's; the oldest one goes.
	maxLinks    = 64
	maxSessions = 64
)

// digest is what is kept of a secret: looking a digest up tells nothing about
// the secret by the time it takes.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

func newSecret() string {
	var random [32]byte
	rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// session is a browser that has come in by a link.
type session struct {
	csrf  string // stands in every form
	used  time.Time
	flash *flash // for the next page
}

// flash is what came of a press of a button, for the page after it.
type flash struct {
	Text   string
	Failed bool
}

// doors knows who may come in. All methods may be called from any goroutine.
type doors struct {
	now func() time.Time

	mu       sync.Mutex
	links    map[digest]time.Time // until when
	sessions map[digest]*session
}

func newDoors(now func() time.Time) *doors {
	return &doors{now: now, links: map[digest]time.Time{}, sessions: map[digest]*session{}}
}

// link makes a token that opens a session, once.
func (d *doors) link() string {
	token := newSecret()
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for key, until := range d.links {
		if !now.Before(until) {
			delete(d.links, key)
		}
	}
	dropOldest(d.links, maxLinks, func(until time.Time) time.Time { return until })
	d.links[digestOf(token)] = now.Add(linkLife)
	return token
}

// open exchanges a token for the value of a cookie.
func (d *doors) open(token string) (cookie string, ok bool) {
	key := digestOf(token)
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	until, known := d.links[key]
	delete(d.links, key)
	if !known || !now.Before(until) {
		return "", false
	}
	dropOldest(d.sessions, maxSessions, func(s *session) time.Time { return s.used })
	cookie = newSecret()
	d.sessions[digestOf(cookie)] = &session{csrf: newSecret(), used: now}
	return cookie, true
}

// session returns the one that a cookie belongs to, nil if there is none.
func (d *doors) session(cookie string) *session {
	key := digestOf(cookie)
	d.mu.Lock()
	defer d.mu.Unlock()
	s, now := d.sessions[key], d.now()
	switch {
	case s == nil:
	case now.Sub(s.used) > sessionLife:
		delete(d.sessions, key)
		return nil
	default:
		s.used = now
	}
	return s
}

// touch says that the session is in use.
func (d *doors) touch(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.used = d.now()
}

// leave keeps a message for the next page of the session.
func (d *doors) leave(s *session, f *flash) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.flash = f
}

// take returns the message that was left, once.
func (d *doors) take(s *session) *flash {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := s.flash
	s.flash = nil
	return f
}

// knows tells whether a form was made for this session.
func (s *session) knows(csrf string) bool {
	return subtle.ConstantTimeCompare([]byte(s.csrf), []byte(csrf)) == 1
}

// dropOldest makes room for one more.
func dropOldest[V any](m map[digest]V, most int, age func(V) time.Time) {
	for len(m) >= most {
		var oldest digest
		first := true
		for key, v := range m {
			if first || age(v).Before(age(m[oldest])) {
				oldest, first = key, false
			}
		}
		delete(m, oldest)
	}
}
