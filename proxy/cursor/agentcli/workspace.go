package agentcli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"cursortray/proxy/chat"
)

// minimalConfig is the least that the CLI accepts as its settings. It grants
// nothing.
const minimalConfig = `{"version":1,"editor":{"vimMode":false},"permissions":{"allow":[],"deny":[]}}` + "\n"

// privatePrefix is how the names of private folders begin.
const privatePrefix = "chat-"

// workspace is the folder that one run works in.
type workspace struct {
	dir string
	// config is the folder for the CLI's settings, "" to leave the user's in
	// place: where the user named the folder, their permissions count too.
	config string
	own    bool        // a private folder of ours
	kept   atomic.Bool // a chat that may be continued needs it
}

// newPrivate makes a private folder in root.
func newPrivate(root string) (*workspace, error) {
	dir, err := os.MkdirTemp(root, privatePrefix) // mode 0700
	if err != nil {
		return nil, err
	}
	w := privateAt(dir)
	if err := w.furnish(); err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

func privateAt(dir string) *workspace {
	return &workspace{dir: dir, config: filepath.Join(dir, ".cursor"), own: true}
}

func (w *workspace) furnish() error {
	if err := os.MkdirAll(filepath.Join(w.config, "rules"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.config, "cli-config.json"), []byte(minimalConfig), 0o600)
}

// renew makes a new private folder out of one that its run has left as it was,
// and returns nil for all others. Renaming takes a tenth of the time that removing
// and making take.
func (w *workspace) renew() *workspace {
	if !w.untouched() {
		return nil
	}
	fresh := privateAt(filepath.Join(filepath.Dir(w.dir), privatePrefix+rand.Text()))
	if err := os.Rename(w.dir, fresh.dir); err != nil {
		return nil
	}
	return fresh
}

// untouched says whether a private folder is as it was made.
func (w *workspace) untouched() bool {
	if !holds(w.dir, ".cursor") || !holds(w.config, "cli-config.json", "rules") || !holds(filepath.Join(w.config, "rules")) {
		return false
	}
	settings, err := os.ReadFile(filepath.Join(w.config, "cli-config.json"))
	return err == nil && string(settings) == minimalConfig
}

// holds says whether a folder has these entries and no others.
func holds(folder string, names ...string) bool {
	entries, err := os.ReadDir(folder) // sorted
	return err == nil && slices.EqualFunc(entries, names, func(e fs.DirEntry, name string) bool {
		return e.Name() == name && (e.IsDir() || e.Type().IsRegular()) // no link, and nothing that blocks
	})
}

// remove removes a private folder unless it is kept. What cannot be removed now
// goes with the root, or when another program sweeps.
func (w *workspace) remove() {
	if w.own && !w.kept.Load() {
		os.RemoveAll(w.dir)
	}
}

func (w *workspace) keep(kept bool) { w.kept.Store(kept) }

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
	if err != nil {
		return nil, b.folderError(err)
	}
	return place, nil
}

// folderGone is the error of a run whose folder was removed before its start, nil
// for all other errors.
func folderGone(err error) *chat.Error {
	at := (*fs.PathError)(nil)
	if !errors.As(err, &at) || at.Op != "chdir" {
		return nil
	}
	return &chat.Error{
		Kind: chat.Unavailable, Code: codeNoFolder, Err: err,
		Message: "The folder in which Cursor's CLI was to work cannot be entered: " + systemReason(err) + ". Try again.",
	}
}
