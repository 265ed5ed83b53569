package agentcli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cursortray/proxy/chat"
)

// minimalConfig is the least that the CLI accepts as its settings. It grants
// nothing.
const minimalConfig = `{"version":1,"editor":{"vimMode":false},"permissions":{"allow":[],"deny":[]}}` + "\n"

// workspace is the folder that one run works in.
type workspace struct {
	dir string
	// config is the folder for the CLI's settings, "" to leave the user's in
	// place: where the user named the folder, their permissions count too.
	config string
	own    bool        // a private folder of ours
	kept   atomic.Bool // a chat that may be continued needs it
}

// folders makes the private folders of one back-end. They lie in a folder of its
// own that nobody else can enter and that Close removes.
type folders struct {
	parent string // "" is the system's folder for temporary files
	stock  int    // folders to have at hand

	mu     sync.Mutex
	root   string // "" before the first use
	spare  []*workspace
	closed bool
}

const (
	rootPrefix = "cursortray-cli-"
	staleAge   = 24 * time.Hour // what a killed program left behind
)

// private returns an empty folder that keeps the user's project, rules and tool
// servers out of an answer, and gives the CLI's own tools nothing to damage.
func (f *folders) private() (*workspace, error) {
	f.mu.Lock()
	if n := len(f.spare); n > 0 {
		w := f.spare[n-1]
		f.spare = f.spare[:n-1]
		f.mu.Unlock()
		return w, nil
	}
	f.mu.Unlock()
	return f.make()
}

// restock makes a folder for a later run, when nobody waits for it: it would be
// a tenth of the time to the first word.
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
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		w.remove()
		return
	}
	f.spare = append(f.spare, w)
}

func (f *folders) make() (*workspace, error) {
	root, err := f.ensureRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(root, "chat-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("make a private folder: %w", err)
	}
	w := &workspace{dir: dir, config: filepath.Join(dir, ".cursor"), own: true}
	if err := w.furnish(); err != nil {
		w.remove()
		return nil, fmt.Errorf("make a private folder: %w", err)
	}
	return w, nil
}

func (w *workspace) furnish() error {
	if err := os.MkdirAll(filepath.Join(w.config, "rules"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.config, "cli-config.json"), []byte(minimalConfig), 0o600)
}

// remove removes a private folder unless it is kept. What cannot be removed now
// goes with the root, or when another program sweeps.
func (w *workspace) remove() {
	if w.own && !w.kept.Load() {
		os.RemoveAll(w.dir)
	}
}

func (w *workspace) keep(kept bool) { w.kept.Store(kept) }

func (f *folders) ensureRoot() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return "", errClosed
	}
	if f.root != "" {
		return f.root, nil
	}
	parent := f.parent
	if parent == "" {
		parent = os.TempDir()
	} else if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for private folders: %w", err)
	}
	sweep(parent)
	root, err := os.MkdirTemp(parent, rootPrefix)
	if err != nil {
		return "", fmt.Errorf("make the folder for private folders: %w", err)
	}
	// The CLI compares paths, and on macOS the folder for temporary files is a link.
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	f.root = root
	return root, nil
}

// sweep removes roots of programs that were killed long ago.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), rootPrefix) && time.Since(info.ModTime()) > staleAge {
			os.RemoveAll(filepath.Join(parent, entry.Name()))
		}
	}
}

// close removes everything that is left. No folder is made after it.
func (f *folders) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.root == "" {
		return nil
	}
	return os.RemoveAll(f.root)
}

// named returns the folder that a request names. The front-end has checked it;
// here it is the last line of defence for a process with the user's rights.
func named(dir string) (*workspace, *chat.Error) {
	if !filepath.IsAbs(dir) || isRoot(dir) {
		return nil, chat.Errorf(chat.Invalid, "the workspace must be the absolute path of a folder other than a file system's root")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, chat.Errorf(chat.Invalid, "the workspace is not an existing folder")
	}
	return &workspace{dir: filepath.Clean(dir)}, nil
}

// isRoot says whether a folder is the root of a file system.
func isRoot(dir string) bool { return filepath.Dir(dir) == filepath.Clean(dir) }

// saveImage puts pictures into a private folder, where the CLI's own reading
// tool finds them; a folder of the user's is not written to.
func (w *workspace) saveImage() saveImage {
	if !w.own {
		return nil
	}
	n := 0
	return func(picture chat.Image) (string, error) {
		n++
		_, kind, _ := strings.Cut(picture.MIME, "/")
		path := filepath.Join(w.dir, fmt.Sprintf("picture-%d.%s", n, kind))
		return path, os.WriteFile(path, picture.Data, 0o600)
	}
}

// place makes or finds the folder that a request works in.
func (b *Backend) place(req *chat.Request) (*workspace, *chat.Error) {
	if req.Workspace != "" {
		return named(req.Workspace)
	}
	place, err := b.folders.private()
	if errors.Is(err, errClosed) {
		return nil, shuttingDown()
	}
	if err != nil {
		return nil, &chat.Error{Kind: chat.Internal, Message: "no private folder could be made for the Cursor CLI; its log says more", Err: err}
	}
	return place, nil
}
