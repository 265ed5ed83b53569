package cursor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// modelFile is a list on disk. It has nothing secret in it, but which models
// somebody has is nobody else's business.
type modelFile struct {
	Schema  int        `json:"schema"`
	Account string     `json:"account"` // a hash
	Fetched time.Time  `json:"fetched"`
	Lists   modelLists `json:"lists"`
}

const (
	// modelSchema changes when the form does; other files are ignored.
	modelSchema = 1
	// maxModelFile is far above the size of a list.
	maxModelFile = 16 << 20
	// modelFiles matches all lists, and what an interrupted write has left.
	modelFiles = "models-*"
)

// accountHash tells accounts apart without naming them.
func accountHash(account string) string {
	sum := sha256.Sum256([]byte("models of " + account))
	return hex.EncodeToString(sum[:8])
}

func modelPath(dir, account string) string {
	return filepath.Join(dir, "models-"+accountHash(account)+".json")
}

var errNoFolder = errors.New("lists of models are kept in memory only")

// readModelFile returns the account's stored list.
func readModelFile(dir, account string) (modelLists, time.Time, error) {
	if dir == "" {
		return modelLists{}, time.Time{}, errNoFolder
	}
	f, err := openRegular(modelPath(dir, account))
	if err != nil {
		return modelLists{}, time.Time{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxModelFile))
	if err != nil {
		return modelLists{}, time.Time{}, err
	}
	var file modelFile
	if err := json.Unmarshal(text, &file); err != nil {
		return modelLists{}, time.Time{}, fmt.Errorf("the file is damaged: %w", err)
	}
	switch {
	case file.Schema != modelSchema || file.Account != accountHash(account):
		return modelLists{}, time.Time{}, errors.New("the file is of another version or account")
	case file.Fetched.IsZero() || file.Fetched.After(time.Now().Add(time.Hour)) || !file.Lists.valid():
		return modelLists{}, time.Time{}, errors.New("the file is damaged")
	}
	return file.Lists, file.Fetched, nil
}

// openRegular opens a file to read. Anything else, such as a pipe, could let
// the program wait for ever.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return os.Open(path)
}

// valid says whether the ids are as the decoders would let them pass.
func (l modelLists) valid() bool {
	badParameter := func(p Parameter) bool { return !validID(p.ID) || !validID(p.Value) }
	badVariant := func(v variantRow) bool {
		return v.Slug != "" && !validID(v.Slug) || slices.ContainsFunc(v.Parameters, badParameter)
	}
	badID := func(id string) bool { return !validID(id) }
	badModel := func(m modelRow) bool {
		return !validID(m.Name) || slices.ContainsFunc(m.Aliases, badID) || slices.ContainsFunc(m.Variants, badVariant)
	}
	badUsable := func(u usableRow) bool {
		return !validID(u.ID) || u.DisplayID != "" && !validID(u.DisplayID) || slices.ContainsFunc(u.Aliases, badID)
	}
	return !slices.ContainsFunc(l.Available, badModel) && !slices.ContainsFunc(l.Usable, badUsable)
}

// writeModelFile stores the list so that a reader sees the old file or the new
// one, whatever happens in between.
func writeModelFile(dir, account string, lists modelLists, fetched time.Time) error {
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(modelFile{modelSchema, accountHash(account), fetched.UTC().Round(0), lists})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, modelFiles+".tmp") // for the owner only
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), modelPath(dir, account))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// removeModelFiles removes the lists of all accounts, except for the file of
// that name.
func removeModelFiles(dir, except string) error {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if ok, _ := filepath.Match(modelFiles, e.Name()); ok && e.Name() != except {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
