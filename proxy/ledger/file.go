package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"cursortray/proxy/money"
)

const (
	// applicationID marks a file as a ledger of this program.
	applicationID = 0x43544c47
	schemaVersion = 1
)

// schema is version 1. Amounts are picodollars, times are milliseconds, and
// NULL is not known. Pages that pruning empties go back to the system.
var schema = []string{
	`PRAGMA auto_vacuum = INCREMENTAL`,
	`PRAGMA journal_mode = WAL`,
	fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
	`CREATE TABLE IF NOT EXISTS request (
	id INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	editor TEXT NOT NULL, model TEXT NOT NULL, dialect TEXT NOT NULL, backend TEXT NOT NULL, outcome TEXT NOT NULL,
	input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
	reasoning INTEGER NOT NULL, cost INTEGER, paused INTEGER NOT NULL,
	context INTEGER NOT NULL, window INTEGER NOT NULL, took INTEGER NOT NULL
) STRICT`,
	`CREATE INDEX IF NOT EXISTS request_at ON request (at)`,
	fmt.Sprintf(`PRAGMA user_version = %d`, schemaVersion),
}

// leastWanted are the entries that go first: requests that came to no
// back-end. The index finds them among all others; where it is missing it is
// made, which is no other version.
const (
	leastWanted = `backend = '' AND outcome <> 'ok'`
	leastIndex  = `CREATE INDEX IF NOT EXISTS request_least ON request (at) WHERE ` + leastWanted
)

const insertion = `INSERT INTO request (at, editor, model, dialect, backend, outcome, input, output, cache_read, cache_write,
	reasoning, cost, paused, context, window, took) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// errForeign says that the file is something else.
var errForeign = errors.New("it is no ledger of cursortray")

// file is the open file of the writer.
type file struct {
	db   *sql.DB
	info fs.FileInfo // of what is open
}

// gone tells whether path names another file by now, or none: somebody has
// taken the ledger away, or put a copy back.
func (f *file) gone(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, f.info)
}

// openFile opens the file to write, or makes it. One that is damaged is moved
// aside and replaced; with suspect all of it is looked at.
func openFile(ctx context.Context, path string, suspect bool, log *slog.Logger) (*file, error) {
	f, err := tryFile(ctx, path, suspect)
	if !damaged(err) {
		return f, err
	}
	aside, moveErr := moveAside(path)
	if moveErr != nil {
		return nil, fmt.Errorf("%w, and it could not be moved aside: %w", err, moveErr)
	}
	log.Warn("the ledger of requests was damaged; a new one is begun", "problem", err.Error(), "old", aside)
	return tryFile(ctx, path, false)
}

func tryFile(ctx context.Context, path string, suspect bool) (*file, error) {
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path, "synchronous(NORMAL)", "journal_size_limit(4194304)"))
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	// One connection: there is one writer.
	db.SetMaxOpenConns(1)
	f := &file{db: db}
	err = f.prepare(ctx)
	if err == nil {
		f.info, err = os.Stat(path)
	}
	if err == nil && suspect {
		err = check(ctx, db)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	return f, nil
}

// makePrivate makes the file if there is none, for its owner only. SQLite gives
// the files beside it the same mode.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errForeign // opening a pipe would wait for ever
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = f.Chmod(0o600)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// prepare makes the tables of a new file, or looks whether they are there.
func (f *file) prepare(ctx context.Context) error {
	id, version, err := identify(ctx, f.db)
	if err != nil {
		return err
	}
	steps := schema
	if id == applicationID && version == schemaVersion {
		steps = nil
	}
	for _, step := range append(steps[:len(steps):len(steps)], leastIndex) {
		if _, err := f.db.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// identify tells what a file is: a ledger of a version, or an empty file, which
// has neither id nor version.
func identify(ctx context.Context, db *sql.DB) (id, version int64, err error) {
	tables := 0
	err = db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return 0, 0, err
	case id != applicationID && (id != 0 || tables > 0):
		return 0, 0, errForeign
	case version > schemaVersion:
		return 0, 0, fmt.Errorf("it is of a newer cursortray (version %d)", version)
	}
	return id, version, nil
}

// check reads all of the file.
func check(ctx context.Context, db *sql.DB) error {
	var found string
	err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
	if err == nil && found != "ok" {
		err = fmt.Errorf("%w: %s", errCorrupt, found)
	}
	return err
}

func (f *file) close() { f.db.Close() }

// insert writes all entries or none.
func (f *file) insert(ctx context.Context, batch []Entry) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	row, err := tx.PrepareContext(ctx, insertion)
	if err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	defer row.Close()
	for _, e := range batch {
		var cost any
		if amount, err := money.Parse(e.Cost); err == nil {
			cost = amount.Pico()
		}
		_, err := row.ExecContext(ctx, e.At.UnixMilli(), bound(e.Editor), bound(e.Model), bound(e.Dialect), bound(e.Backend), bound(e.Outcome),
			count(e.Input), count(e.Output), count(e.CacheRead), count(e.CacheWrite), count(e.Reasoning), cost, e.Paused,
			count(e.Context), count(e.Window), count(e.Took.Milliseconds()))
		if err != nil {
			return fmt.Errorf("write the ledger: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
}

// maxCount keeps sums of counts in reach.
const maxCount = 1 << 40

func count(n int64) int64 { return min(max(0, n), maxCount) }

// maxName bounds what is kept of a name.
const maxName = 100

func bound(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	return strings.ToValidUTF8(name, "")
}

// errCorrupt is what a check of the file finds.
var errCorrupt = errors.New("the ledger is damaged")

// Codes of SQLite. The first is what it says of statements that make no sense;
// ours do, in a file that is as they expect it.
const (
	codeError   = 1
	codeCorrupt = 11
	codeNotADB  = 26
)

// damaged tells errors that only another file mends.
func damaged(err error) bool {
	if errors.Is(err, errCorrupt) || errors.Is(err, errForeign) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == codeError || code == codeCorrupt || code == codeNotADB
}

// moveAside renames the file, with those that SQLite keeps beside it.
func moveAside(path string) (aside string, err error) {
	for n := 1; ; n++ {
		aside = fmt.Sprintf("%s.broken-%d", path, n)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
	}
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, beside := range []string{"-wal", "-shm"} {
		// Left behind it would be taken for a part of the new file.
		if err := os.Rename(path+beside, aside+beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// dsn names the file for SQLite, which makes none. A small cache will do: the file is written at
// its end.
func dsn(path string, pragmas ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive's letter comes first
	}
	query := url.Values{"mode": {"rw"}, "_pragma": append([]string{"busy_timeout(2000)", "cache_size(-512)"}, pragmas...)}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	return name.String()
}
