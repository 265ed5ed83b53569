package autostart

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows/registry"
)

const (
	runKey      = `Software\Microsoft\Windows\CurrentVersion\Run`
	approvedKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
	runName     = "cursortray"
)

// run is a value of the Run key of the user.
type run struct{ key, approved string }

func system(func(string) string) (place, error) { return run{runKey, approvedKey}, nil }

func (r run) where() string { return `HKEY_CURRENT_USER\` + r.key + `\` + runName }

func (r run) read() (State, error) {
	line, err := r.line()
	if err != nil {
		return State{}, err
	}
	key, err := registry.OpenKey(registry.CURRENT_USER, r.approved, registry.QUERY_VALUE)
	if err != nil {
		return State{On: true, Program: runProgram(line)}, nil
	}
	defer key.Close()
	value, _, err := key.GetBinaryValue(runName)
	return State{On: err != nil || approved(value), Program: runProgram(line)}, nil
}

func (r run) line() (string, error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, r.key, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return "", errNone
	}
	if err != nil {
		return "", err
	}
	defer key.Close()
	line, _, err := key.GetStringValue(runName)
	if errors.Is(err, registry.ErrNotExist) {
		return "", errNone
	}
	return line, err
}

func (r run) write(command []string) error {
	if err := r.move(command); err != nil {
		return err
	}
	return drop(r.approved) // what the Task Manager has switched off
}

func (r run) move(command []string) error {
	line, err := runValue(command)
	if err != nil {
		return err
	}
	key, _, err := registry.CreateKey(registry.CURRENT_USER, r.key, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer key.Close()
	return key.SetStringValue(runName, line)
}

func (r run) remove() error { return errors.Join(drop(r.key), drop(r.approved)) }

// drop deletes the value of a key, if it is there.
func drop(path string) error {
	key, err := registry.OpenKey(registry.CURRENT_USER, path, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer key.Close()
	if err := key.DeleteValue(runName); !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}

// companion returns the program for the tray, which opens no console window and
// lies beside the one for the command line.
func companion(program string) string {
	name := filepath.Base(program)
	if !strings.EqualFold(name, "cursortray.exe") {
		return program
	}
	tray := filepath.Join(filepath.Dir(program), "cursortrayw.exe")
	if _, err := os.Stat(tray); err != nil {
		return program
	}
	return tray
}
