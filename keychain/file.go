package keychain

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// File returns a Store that keeps each secret in a file of the folder dir,
// readable by its owner only. The folder is made with the first secret. On
// Unix a folder or file that others could read is refused; on Windows the
// folder has to lie in the user's profile, whose access list keeps others out.
//
// Several processes may use one folder at the same time.
func File(dir string) Store { return &file{dir: dir} }

type file struct{ dir string }

const (
	// The prefixes keep names such as "nul" usable on Windows and tell
	// secrets, unfinished files and the lock apart.
	secretPrefix = "secret."
	unfinished   = "unfinished."
	lockName     = "lock"

	// fileMagic begins each file; the value's SHA-256 and the value follow,
	// each on a new line.
	fileMagic = "cursortray secret 1"
)

func (f *file) Kind() string { return "file" }

func (f *file) Get(ctx context.Context, name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	value, err := f.read(name)
	if err != nil {
		return nil, fmt.Errorf("read %s from its file: %w", name, err)
	}
	return value, nil
}

func (f *file) read(name string) ([]byte, error) {
	if err := checkFolder(f.dir); err != nil {
		return nil, absent(err)
	}
	h, err := openPrivate(filepath.Join(f.dir, secretPrefix+name))
	if err != nil {
		return nil, absent(err)
	}
	defer h.Close()
	content, err := io.ReadAll(io.LimitReader(h, maxValue+1024))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	magic, rest, _ := bytes.Cut(content, []byte("\n"))
	sum, value, _ := bytes.Cut(rest, []byte("\n"))
	if want := sha256.Sum256(value); string(magic) != fileMagic || string(sum) != hex.EncodeToString(want[:]) {
		return nil, fmt.Errorf("%w: the file was changed or cut", ErrCorrupt)
	}
	return value, nil
}

func (f *file) Set(ctx context.Context, name string, value []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(value) > maxValue {
		return fmt.Errorf("keychain: %d bytes are too many for a secret", len(value))
	}
	err := f.locked(ctx, func() error {
		if err := checkFolder(f.dir); err != nil {
			return err
		}
		if err := f.clean(); err != nil {
			return err
		}
		return f.replace(name, value)
	})
	if err != nil {
		return fmt.Errorf("store %s in its file: %w", name, err)
	}
	return nil
}

// Delete works in an exposed folder too: leaving the secret there helps nobody.
func (f *file) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := os.Lstat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return ctx.Err()
	}
	err := f.locked(ctx, func() error {
		if err := f.clean(); err != nil {
			return err
		}
		secret := filepath.Join(f.dir, secretPrefix+name)
		if err := patiently(func() error { return os.Remove(secret) }); err != nil {
			return gone(absent(err))
		}
		return syncFolder(f.dir)
	})
	if err != nil {
		return fmt.Errorf("delete the file of %s: %w", name, err)
	}
	return nil
}

// locked runs change while no other process changes the folder. The lock ends
// with the process that holds it, however that ends, so what change finds
// unfinished belongs to nobody.
func (f *file) locked(ctx context.Context, change func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	limited, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	lock := flock.New(filepath.Join(f.dir, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(limited, 5*time.Millisecond); err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			return fmt.Errorf("%w: another process has locked %s for %v", ErrUnavailable, f.dir, reachLimit)
		}
		return failed(err)
	}
	defer lock.Close()
	return failed(change())
}

// clean removes what a killed writer left: it holds a secret too.
func (f *file) clean() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) {
			if err := os.Remove(filepath.Join(f.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace writes a new file and gives it the name of the old one.
func (f *file) replace(name string, value []byte) (err error) {
	temp := filepath.Join(f.dir, unfinished+name)
	h, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp)
		}
	}()
	sum := sha256.Sum256(value)
	content := append([]byte(fileMagic+"\n"+hex.EncodeToString(sum[:])+"\n"), value...)
	if _, err := h.Write(content); err != nil {
		h.Close()
		return err
	}
	// Without this a crash of the machine may leave the new name with an
	// empty file.
	if err := h.Sync(); err != nil {
		h.Close()
		return err
	}
	if err := h.Close(); err != nil {
		return err
	}
	secret := filepath.Join(f.dir, secretPrefix+name)
	if err := patiently(func() error { return os.Rename(temp, secret) }); err != nil {
		return err
	}
	return syncFolder(f.dir)
}

// absent turns "no such file" into ErrNotFound and the rest into
// ErrUnavailable.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return failed(err)
}

// failed makes sure that err is one of the package's or a context's own.
func failed(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{ErrUnavailable, ErrNotFound, ErrCorrupt, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
