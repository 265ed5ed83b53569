package agentcli

import "context"

// About is what can be said of the CLI without a run.
type About struct {
	Path    string // "" when there is no CLI
	Version string // "" when a chosen program does not tell
	// Passed lists programs that have its name and are not it, with the reasons;
	// only if it was found: the error names them otherwise.
	Passed string
}

// About finds the CLI and asks for its login. The error is what a request
// would fail with, as from Check; a CLI that was found is described even then.
func (b *Backend) About(ctx context.Context) (About, error) {
	err := b.Check(ctx)
	if p := b.found.Load(); p != nil {
		about := About{Path: p.path, Version: p.version}
		if b.locating.acquire(ctx) == nil {
			about.Passed = b.spell(b.passed)
			b.locating.release()
		}
		return about, err
	}
	return About{}, err
}
