package keychain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// items is an operating system's store: short texts by name. get and delete
// return ErrNotFound for an unknown name. Replacing a text is all or nothing
// in each of the three systems; nothing else is assumed.
type items interface {
	get(name string) (string, error)
	set(name, text string) error
	delete(name string) error
}

// What makes save and remove safe against an end at any step:
//
//   - A value with parts becomes visible by one step, writing the item called
//     name. Parts are written before it under a new generation's names, and
//     the former parts are deleted after it.
//   - Stores cannot be listed through the library, so generations whose parts
//     may be left over are noted in the item name#gens before the first of
//     those parts is written or becomes useless. The next save or remove
//     deletes them.
//
// Two processes that save the same name at the same time never mix their
// values, but one of them may find its parts swept away by the other and fail;
// callers that share a name between processes take turns.

// load returns the value called name.
func load(it items, name string) ([]byte, error) {
	text, err := it.get(name)
	for range 10 {
		if err != nil {
			return nil, err
		}
		value, errValue := read(it, name, text)
		if errValue == nil {
			return value, nil
		}
		// Another process may have replaced the value since its head was read.
		// A part that vanishes while it is read gives any kind of error.
		before := text
		if text, err = it.get(name); err == nil && text == before {
			return nil, errValue
		}
	}
	return nil, fmt.Errorf("%w: it keeps changing", ErrUnavailable)
}

// read returns the value that belongs to the text of the item called name.
func read(it items, name, text string) ([]byte, error) {
	h, isHead, err := parseHead(text)
	if err != nil {
		return nil, err
	}
	if !isHead {
		return []byte(text), nil
	}
	parts := make([]string, h.N)
	for i := range parts {
		parts[i], err = it.get(h.generation().item(name, i))
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("%w: part %d of %d is missing", ErrCorrupt, i+1, h.N)
		}
		if err != nil {
			return nil, err
		}
	}
	return h.join(parts)
}

// save stores value under name.
func save(it items, name string, value []byte) error {
	old, err := look(it, name)
	if err != nil {
		return err
	}
	// What an interrupted call left goes first, so that the journal stays short.
	if err := sweep(it, name, old.leftover()); err != nil {
		return fmt.Errorf("clean up after an interrupted write: %w", err)
	}
	text, h, parts := layOut(value, newGeneration(old.gen.Gen))
	touched := slices.DeleteFunc([]generation{old.gen, h.generation()}, generation.empty)
	if len(touched) > 0 {
		if err := it.set(journalItem(name), mustJSON(journal{Gens: touched})); err != nil {
			return err
		}
		old.journaled = true
	}
	if err := writeParts(it, name, h.generation(), parts); err != nil {
		discard(it, name, h.generation(), old)
		return err
	}
	switch how, err := switchHead(it, name, text, old); how {
	case unknown:
		return err // the journal knows the parts of both
	case keptOld:
		discard(it, name, h.generation(), old)
		return err
	case overtaken:
		// As if this save had come first. The journal is the other's now.
		return sweep(it, name, []generation{h.generation()})
	}
	// The value is in place. If this fails, the journal still knows the parts.
	if sweep(it, name, []generation{old.gen}) == nil && old.journaled {
		_ = it.delete(journalItem(name))
	}
	return nil
}

// remove deletes the value called name and all that belongs to it.
func remove(it items, name string) error {
	old, err := look(it, name)
	if err != nil {
		return err
	}
	gens := slices.DeleteFunc(append(old.leftover(), old.gen), generation.empty)
	if len(gens) > 0 {
		if err := it.set(journalItem(name), mustJSON(journal{Gens: gens})); err != nil {
			return err
		}
		old.journaled = true
	}
	if old.exists {
		if err := gone(it.delete(name)); err != nil {
			return err
		}
	}
	if err := sweep(it, name, gens); err != nil {
		return err
	}
	if old.journaled {
		return gone(it.delete(journalItem(name)))
	}
	return nil
}

// present is what a name's items say before a change.
type present struct {
	exists    bool
	text      string
	gen       generation // of the value's parts; empty if it has none
	pending   []generation
	journaled bool
}

func look(it items, name string) (present, error) {
	var p present
	text, err := it.get(name)
	if gone(err) != nil {
		return present{}, err
	}
	p.exists, p.text = err == nil, text
	if h, isHead, err := parseHead(text); isHead && err == nil {
		p.gen = h.generation()
	}
	text, err = it.get(journalItem(name))
	if gone(err) != nil {
		return present{}, err
	}
	p.journaled, p.pending = err == nil, parseJournal(text)
	return p, nil
}

// leftover returns the noted generations that the value does not use.
func (p present) leftover() []generation {
	return slices.DeleteFunc(slices.Clone(p.pending), func(g generation) bool { return g.Gen == p.gen.Gen })
}

func (g generation) empty() bool { return g.N == 0 }

func journalItem(name string) string { return name + "#gens" }

// writeParts also reads each part back: some stores have cut long texts
// without an error.
func writeParts(it items, name string, g generation, parts []string) error {
	for i, part := range parts {
		if err := it.set(g.item(name, i), part); err != nil {
			return err
		}
		switch back, err := it.get(g.item(name, i)); {
		case err != nil:
			return fmt.Errorf("read back: %w", err)
		case back != part:
			return fmt.Errorf("%w: it gives back something else than it was given", ErrUnavailable)
		}
	}
	return nil
}

// switched says which value is visible after an attempt to change it.
type switched int

const (
	unknown switched = iota
	keptOld
	isNew
	overtaken // another process wrote after us
)

// switchHead makes the new value the visible one.
func switchHead(it items, name, text string, old present) (switched, error) {
	errSet := it.set(name, text)
	back, errGet := it.get(name)
	switch {
	case errGet == nil && back == text:
		return isNew, nil // also if set complained: the store has the value
	case errSet != nil:
		// Even if the old value is still there: a store that gave up waiting
		// for its own back end may write yet.
		return unknown, errSet
	case errGet != nil:
		return unknown, fmt.Errorf("read back: %w", errGet)
	case !strings.HasPrefix(text, back) && !strings.HasSuffix(text, back):
		return overtaken, nil // what a store cuts still is a piece of ours
	}
	err := fmt.Errorf("%w: it gives back something else than it was given", ErrUnavailable)
	if old.exists {
		errSet = it.set(name, old.text)
	} else {
		errSet = gone(it.delete(name))
	}
	if errSet != nil {
		return unknown, err
	}
	return keptOld, err
}

// discard takes back an unfinished save as far as the store lets it. What it
// cannot delete stays in the journal.
func discard(it items, name string, g generation, old present) {
	if sweep(it, name, []generation{g}) == nil && old.journaled {
		_ = it.delete(journalItem(name))
	}
}

func sweep(it items, name string, gens []generation) error {
	for _, g := range gens {
		for i := range g.N {
			if err := gone(it.delete(g.item(name, i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// gone is err unless it only says that there is nothing.
func gone(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// bounded makes every step of it fail once ctx has ended, so that an abandoned
// call stops at the next step.
type bounded struct {
	ctx context.Context
	it  items
}

func (b bounded) get(name string) (string, error) {
	if err := b.ctx.Err(); err != nil {
		return "", err
	}
	return b.it.get(name)
}

func (b bounded) set(name, text string) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if len(text) > maxItem {
		return fmt.Errorf("an item of %d bytes is too long", len(text))
	}
	return b.it.set(name, text)
}

func (b bounded) delete(name string) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	return b.it.delete(name)
}
