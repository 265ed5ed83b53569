package keychain

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Memory returns an empty Store that forgets everything when the program ends.
func Memory() Store { return &memory{values: map[string][]byte{}} }

type memory struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (m *memory) Kind() string { return "memory" }

func (m *memory) Get(ctx context.Context, name string) ([]byte, error) {
	if err := m.enter(ctx, name); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	value, ok := m.values[name]
	if !ok {
		return nil, fmt.Errorf("read %s from memory: %w", name, ErrNotFound)
	}
	return slices.Clone(value), nil
}

func (m *memory) Set(ctx context.Context, name string, value []byte) error {
	if err := m.enter(ctx, name); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.values[name] = append([]byte{}, value...)
	return nil
}

func (m *memory) Delete(ctx context.Context, name string) error {
	if err := m.enter(ctx, name); err != nil {
		return err
	}
	defer m.mu.Unlock()
	delete(m.values, name)
	return nil
}

// enter checks the arguments that all methods share and locks m.
func (m *memory) enter(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	return nil
}
