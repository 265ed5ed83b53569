package ledger

import (
	"context"
	"fmt"
	"time"
)

// pruneStep is how many entries go at once, so that others get to write.
const pruneStep = 1_000

// prune takes away entries from before oldest, and the oldest of the rest until
// the file is no larger than maxBytes.
func (f *file) prune(ctx context.Context, oldest time.Time, maxBytes int64) error {
	for {
		done, err := f.db.ExecContext(ctx, `DELETE FROM request WHERE id IN (SELECT id FROM request WHERE at < ? ORDER BY at LIMIT ?)`,
			oldest.UnixMilli(), pruneStep)
		if err != nil {
			return fmt.Errorf("prune the ledger: %w", err)
		}
		if n, err := done.RowsAffected(); err != nil || n < pruneStep {
			break
		}
	}
	// Requests that came to no back-end go first: a client that hammers at a
	// limit, or sends nonsense, is not to push out what was used.
	which := ` WHERE ` + leastWanted
	for {
		size, err := f.size(ctx)
		if err != nil || size <= maxBytes {
			return err
		}
		done, err := f.db.ExecContext(ctx, `DELETE FROM request WHERE id IN (SELECT id FROM request`+which+` ORDER BY at LIMIT ?)`, pruneStep)
		if err != nil {
			return fmt.Errorf("prune the ledger: %w", err)
		}
		n, err := done.RowsAffected()
		switch {
		case err != nil || n == 0 && which == "":
			return err
		case n == 0:
			which = ""
		}
	}
}

// size gives empty pages back and returns what is left.
func (f *file) size(ctx context.Context) (bytes int64, err error) {
	free, err := f.db.QueryContext(ctx, `PRAGMA incremental_vacuum`)
	if err == nil {
		for free.Next() { // each step frees a page
		}
		err = free.Err()
		free.Close()
	}
	var pages, pageSize int64
	if err == nil {
		err = f.db.QueryRowContext(ctx, `SELECT (SELECT page_count FROM pragma_page_count), (SELECT page_size FROM pragma_page_size)`).Scan(&pages, &pageSize)
	}
	if err != nil {
		return 0, fmt.Errorf("prune the ledger: %w", err)
	}
	return pages * pageSize, nil
}
