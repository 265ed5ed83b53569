// Package autostart makes the program start when its user logs in: an XDG
// autostart entry on Linux, a LaunchAgent on macOS, a value of the Run key on
// Windows. The entry itself is the only truth, and is read each time anew,
// because desktops have switches of their own for it.
//
// It starts and ends nothing: an entry takes effect at the next login. It has
// no goroutines.
package autostart

import (
	"errors"
	"fmt"
	"slices"
)

// Flag is the argument that an entry gives to the program, so that a start at
// login does not greet the user as a start by hand does.
const Flag = "--autostart"

// State is what the entry says.
type State struct {
	On bool
	// Program is what the entry starts; "" if there is none.
	Program string
	// Where is the place of the entry, for people.
	Where string
}

// Item is the program's entry. Its methods may be called at the same time, and
// the last one wins.
type Item struct {
	program string // what a new entry starts
	at      place
}

// place is where a system keeps such entries.
type place interface {
	// read returns what is there; errNone if nothing is.
	read() (State, error)
	// write makes the entry one that starts command, and is on.
	write(command []string) error
	// move makes an entry that is there start command, and changes nothing else.
	move(command []string) error
	remove() error // if it is there
	where() string
}

// errNone says that there is no entry.
var errNone = errors.New("there is no entry")

// New returns the entry of program, an absolute path; see Program.
func New(program string, env func(string) string) (*Item, error) {
	at, err := system(env)
	if err != nil {
		return nil, err
	}
	return &Item{program: program, at: at}, nil
}

// State reads the entry.
func (i *Item) State() (State, error) {
	state, err := i.at.read()
	state.Where = i.at.where()
	if errors.Is(err, errNone) {
		return state, nil
	}
	if err != nil {
		return state, fmt.Errorf("read %s: %w", i.at.where(), err)
	}
	return state, nil
}

// Set writes or removes the entry. It does not start the program.
func (i *Item) Set(on bool) error {
	if !on {
		if err := i.at.remove(); err != nil {
			return fmt.Errorf("remove %s: %w", i.at.where(), err)
		}
		return nil
	}
	// One that is right already may hold what the user has added to it.
	if state, err := i.at.read(); err == nil && state.On && state.Program == i.program {
		return nil
	}
	if err := i.at.write(i.command()); err != nil {
		return fmt.Errorf("write %s: %w", i.at.where(), err)
	}
	return nil
}

// Renew makes an entry that starts another program start this one: the program
// was moved. It says whether it has changed anything, which it never does where
// there is no entry; one that is off stays off.
func (i *Item) Renew() (bool, error) {
	state, err := i.at.read()
	if errors.Is(err, errNone) || err == nil && state.Program == i.program {
		return false, nil
	}
	if err == nil {
		err = i.at.move(i.command())
	}
	if err != nil {
		return false, fmt.Errorf("renew %s: %w", i.at.where(), err)
	}
	return true, nil
}

func (i *Item) command() []string { return slices.Clip([]string{i.program, Flag}) }
