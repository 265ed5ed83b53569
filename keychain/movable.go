package keychain

import (
	"context"
	"sync/atomic"
)

// Movable is a Store in front of another one, which can be exchanged while it is
// used: when a user has no keychain and agrees to a file.
type Movable struct{ behind atomic.Pointer[Store] }

// NewMovable returns a Movable in front of s.
func NewMovable(s Store) *Movable {
	m := &Movable{}
	m.MoveTo(s)
	return m
}

// MoveTo makes all later calls go to s. It copies nothing: who keeps values in
// memory stores them again.
func (m *Movable) MoveTo(s Store) { m.behind.Store(&s) }

// Behind returns the store that calls go to now.
func (m *Movable) Behind() Store { return *m.behind.Load() }

// Get implements Store.
func (m *Movable) Get(ctx context.Context, name string) ([]byte, error) {
	return m.Behind().Get(ctx, name)
}

// Set implements Store.
func (m *Movable) Set(ctx context.Context, name string, value []byte) error {
	return m.Behind().Set(ctx, name, value)
}

// Delete implements Store.
func (m *Movable) Delete(ctx context.Context, name string) error {
	return m.Behind().Delete(ctx, name)
}

// Kind implements Store.
func (m *Movable) Kind() string { return m.Behind().Kind() }
