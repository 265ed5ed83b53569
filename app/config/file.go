package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"cursortray/app/atomicfile"
	"cursortray/app/confedit"
	"cursortray/proxy/money"

	"github.com/pelletier/go-toml/v2"
)

// maxFile bounds what is read: a settings file is a page of text.
const maxFile = 1 << 20

// Warning is something in the settings that was not used, in one line for the
// user. It never holds the value of a secret.
type Warning struct {
	Key    string // "" when the whole file is meant
	Source string // the file's path or the variable's name
	Text   string // what is wrong and what is used instead
}

func (w Warning) String() string {
	if w.Key == "" || w.Source == (Setting{Key: w.Key}).Env() {
		return w.Source + ": " + w.Text
	}
	return w.Source + ": " + w.Key + ": " + w.Text
}

// File is the settings file. Its methods may be called from any goroutine.
type File struct {
	path string
	mu   sync.Mutex // serializes Set
}

// Path returns where the file is, or would be.
func (f *File) Path() string { return f.path }

// Open reads the file at path, which need not exist, and the environment. A
// file that is not TOML is moved aside, never lost, and counts as empty; a
// value that makes no sense counts as not set. Both are told as warnings, so
// that there are always settings to start with.
func Open(path string, env func(string) string) (*File, Settings, []Warning) {
	f := &File{path: path}
	values, warnings := f.load()
	settings := Default()
	type bad struct {
		row    Setting
		source string
		err    error
	}
	var refused []bad
	known := map[string]bool{}
	for _, row := range Table() {
		known[row.Key] = true
		if value, ok := values[row.Key]; ok {
			if err := row.apply(&settings, value); err != nil {
				refused = append(refused, bad{row, path, err})
			}
		}
		if value := env(row.Env()); value != "" {
			if err := row.apply(&settings, value); err != nil {
				refused = append(refused, bad{row, row.Env(), err})
			}
		}
	}
	for _, b := range refused { // only now is it known what is used instead
		warnings = append(warnings, ignored(b.row, b.source, b.err, &settings))
	}
	var unknown []string
	for key := range values {
		if !known[key] {
			unknown = append(unknown, key)
		}
	}
	sort.Strings(unknown)
	for _, key := range unknown {
		warnings = append(warnings, Warning{Key: key, Source: path, Text: "no such setting; ignored"})
	}
	return f, settings, warnings
}

func ignored(row Setting, source string, err error, settings *Settings) Warning {
	used := "the value is ignored"
	if shown := row.Show(settings); shown != "" && !row.Secret {
		used = "using " + shown
	}
	return Warning{Key: row.Key, Source: source, Text: err.Error() + "; " + used}
}

func (f *File) load() (map[string]any, []Warning) {
	data, err := readFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Warning{{Source: f.path, Text: fmt.Sprintf("the settings file cannot be read (%v); the defaults are used", atomicfile.Cause(err))}}
	}
	values, err := decode(data)
	if err == nil {
		return values, nil
	}
	text := "the settings file is not valid TOML" + position(err)
	aside, err := moveAside(f.path)
	if err != nil {
		return nil, []Warning{{Source: f.path, Text: fmt.Sprintf("%s and cannot be moved aside (%v); the defaults are used", text, atomicfile.Cause(err))}}
	}
	return nil, []Warning{{Source: f.path, Text: text + "; it was moved to " + aside + " and the defaults are used"}}
}

func decode(data []byte) (map[string]any, error) {
	values := map[string]any{}
	// What some editors on Windows put in front of a file.
	err := toml.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &values)
	return values, err
}

// position says where the error is. The parser's own words are left out: they
// may quote the line, and the line may hold a secret.
func position(err error) string {
	var where *toml.DecodeError
	if !errors.As(err, &where) {
		return ""
	}
	line, column := where.Position()
	return fmt.Sprintf(" (line %d, column %d)", line, column)
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("larger than 1 MiB")
	}
	return data, err
}

// moveAside renames path to the first free path.broken-N.
func moveAside(path string) (string, error) {
	for n := 1; n < 1000; n++ {
		aside := fmt.Sprintf("%s.broken-%d", path, n)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return aside, os.Rename(path, aside)
		}
	}
	return "", errors.New("too many broken files beside it")
}

// Set writes one setting into the file, which is created if need be. Comments,
// order and unknown keys stay byte for byte. A file that is not valid TOML, or
// a value that makes no sense, is left alone and reported.
func (f *File) Set(key string, value any) error {
	row, ok := find(key)
	if !ok {
		return fmt.Errorf("there is no setting %q", key)
	}
	var checked Settings
	if err := row.apply(&checked, value); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := readFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read settings: %w", err)
	}
	edited, err := confedit.Set(confedit.TOML, data, confedit.Names(key), tomlValue(row.get(&checked)))
	if err != nil {
		return fmt.Errorf("set %s in %s: %w", key, f.path, err)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := atomicfile.Replace(f.path, edited, 0o600); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// tomlValue returns the value as the file spells it.
func tomlValue(value any) any {
	switch v := value.(type) {
	case Secret:
		return v.Reveal()
	case time.Duration:
		return shortDuration(v)
	case slog.Level:
		return strings.ToLower(v.String())
	case money.Amount:
		return strings.TrimPrefix(v.String(), "$")
	case []string:
		if v == nil {
			return []string{}
		}
	}
	return value
}
