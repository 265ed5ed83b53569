package agentcli

import "context"

// About is what can be said of the CLI without a run.
type About struct {
	Path    string // "" when there is no CLI
	Version string // "" when a chosen program does not tell
}

// About finds the CLI and asks for its login. The error is what a request
// would fail with, as from Check; a CLI that was found is described even then.
func (b *Backend) About(ctx context.Context) (About, error) {
	err := b.Check(ctx)
	if p := b.found.Load(); p != nil {
		return About{Path: p.path, Version: p.version}, err
	}
	return About{}, err
}
