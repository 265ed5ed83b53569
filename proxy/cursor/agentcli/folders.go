package agentcli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// folders makes the private folders of one back-end. They lie in a folder of its
// own that nobody else can enter and that Close removes.
type folders struct {
	log     *slog.Logger
	parents []string // where that folder may lie, best first
	stock   int      // private folders to have at hand

	mu     sync.Mutex
	roots  map[string]string // by parent; a parent that was not used has none
	claims []io.Closer       // of the roots
	spare  []*workspace
	lack   int          // folders to be made
	used   []*workspace // to be removed
	away   bool         // the last folder did not come from the first parent
	closed bool
	busy   sync.WaitGroup // folders that are being made or removed, which close waits for
}

const (
	rootPrefix = "cursortray-cli-"
	// tidyDelay is between the end of a run and the clearing of its folder:
	// clients send the next request at once, and it goes first.
	tidyDelay = 2 * time.Millisecond
)

// newFolders returns folders in parent, "" for the system's folder for temporary
// files. That one is also used where parent cannot be.
func newFolders(log *slog.Logger, parent string, stock int) *folders {
	parents := []string{os.TempDir()}
	if parent != "" && parent != parents[0] {
		parents = []string{parent, parents[0]}
	}
	return &folders{log: log, parents: parents, stock: stock, roots: map[string]string{}}
}

// private returns an empty folder that keeps the user's project, rules and tool
// servers out of an answer, and gives the CLI's own tools nothing to damage.
func (f *folders) private() (*workspace, error) {
	for {
		f.mu.Lock()
		n := len(f.spare)
		if n == 0 {
			f.mu.Unlock()
			return f.make()
		}
		w := f.spare[n-1]
		f.spare = f.spare[:n-1]
		f.mu.Unlock()
		if isFolder(w.dir) { // caches are cleared at any time
			return w, nil
		}
	}
}

// giveBack takes the folder of a run that is over. It is cleared away, and there
// is one for a later run, when probably nobody waits for it: that would be a
// tenth of the time to the first word.
func (f *folders) giveBack(w *workspace) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return // close removes it, or has
	}
	if !w.kept.Load() { // else it belongs to a chat, and perhaps to the next run already
		f.used = append(f.used, w)
	}
	if f.lack++; f.lack == 1 {
		f.busy.Add(1)
		time.AfterFunc(tidyDelay, func() {
			defer f.busy.Done()
			f.tidy()
		})
	}
}

// tidy removes what was given back and puts as many new folders in stock.
func (f *folders) tidy() {
	f.mu.Lock()
	used, lack := f.used, f.lack
	f.used, f.lack = nil, 0
	f.mu.Unlock()
	for _, w := range used {
		fresh := w.renew()
		switch {
		case fresh == nil:
			w.remove()
		case f.store(fresh):
			lack--
		default:
			fresh.remove()
		}
	}
	for range lack {
		f.restock()
	}
}

// store puts a folder in stock, unless that is full.
func (f *folders) store(w *workspace) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.spare) >= f.stock {
		return false
	}
	f.spare = append(f.spare, w)
	return true
}

// restock makes a folder for a later run.
func (f *folders) restock() {
	f.mu.Lock()
	full := len(f.spare) >= f.stock
	f.mu.Unlock()
	if full {
		return
	}
	w, err := f.make()
	if err != nil {
		return // the next run meets it again, and tells
	}
	if !f.store(w) {
		w.remove()
	}
}

func (f *folders) make() (*workspace, error) {
	if !f.begin() {
		return nil, errClosed
	}
	defer f.busy.Done()
	var w *workspace
	parent, failed, err := f.inParent(func(root string) (err error) {
		w, err = newPrivate(root)
		return err
	})
	if err == nil {
		f.tell(parent, failed)
	}
	return w, err
}

// begin keeps close waiting, unless it is too late.
func (f *folders) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.busy.Add(1)
	}
	return !f.closed
}

// shared returns a folder for a process that needs none of its own.
func (f *folders) shared() (dir string, err error) {
	_, _, err = f.inParent(func(root string) error {
		dir = root
		return nil
	})
	return dir, err
}

// inParent calls do with the root in the best parent where that works, and says
// where it did not.
func (f *folders) inParent(do func(root string) error) (parent string, failed []folderTry, err error) {
	for _, parent := range f.parents {
		root, err := f.root(parent)
		if errors.Is(err, errClosed) {
			return "", nil, err
		}
		if err == nil {
			err = do(root)
		}
		if err == nil {
			return parent, failed, nil
		}
		failed = append(failed, folderTry{parent, err})
	}
	return "", nil, &noFolder{failed}
}

// tell warns once when folders begin to come from elsewhere.
func (f *folders) tell(parent string, failed []folderTry) {
	f.mu.Lock()
	news := f.away != (len(failed) > 0)
	f.away = len(failed) > 0
	f.mu.Unlock()
	if news && len(failed) > 0 {
		f.log.Warn("private folders cannot be made where they belong", "folder", failed[0].dir, "reason", failed[0].reason(), "instead", parent)
	}
}

// root returns the back-end's own folder in parent and makes it if need be.
func (f *folders) root(parent string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return "", errClosed
	}
	if root := f.roots[parent]; root != "" && isFolder(root) {
		return root, nil
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	sweep(parent)
	root, err := os.MkdirTemp(parent, rootPrefix) // mode 0700
	if err != nil {
		return "", err
	}
	// The CLI compares paths, and on macOS the folder for temporary files is a link.
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if claim, err := claim(root); err == nil { // else its age tells
		f.claims = append(f.claims, claim)
	}
	f.roots[parent] = root
	return root, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// close removes everything that is left. No folder is made after it.
func (f *folders) close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.busy.Wait()
	var errs []error
	for _, claim := range f.claims {
		claim.Close()
	}
	for _, root := range f.roots {
		errs = append(errs, os.RemoveAll(root))
	}
	return errors.Join(errs...)
}

// noFolder says that no private folder can be made anywhere.
type noFolder struct{ tries []folderTry }

// folderTry is one place where that was tried.
type folderTry struct {
	dir string
	err error
}

func (e *noFolder) Error() string {
	var list []string
	for _, try := range e.tries {
		list = append(list, fmt.Sprintf("%s (%s)", try.dir, try.reason()))
	}
	return strings.Join(list, ", ")
}

func (t folderTry) reason() string { return systemReason(t.err) }

// systemReason is what the system says about a path, without the path.
func systemReason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

// codeNoFolder is the code of errors that the disk is the cause of.
const codeNoFolder = "cursor_cli_no_folder"

// folderError is the error of a request that finds no folder to work in.
func (b *Backend) folderError(err error) *chat.Error {
	if errors.Is(err, errClosed) {
		return shuttingDown()
	}
	return &chat.Error{
		Kind: chat.Unavailable, Code: codeNoFolder, Err: err,
		Message: "Cursor's CLI needs a private folder to work in, and none can be made in " + b.hide.apply(err.Error()) +
			". Make sure that one of these is a folder that you may write to, on a disk that is not full, and try again.",
	}
}
