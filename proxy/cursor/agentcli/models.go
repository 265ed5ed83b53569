package agentcli

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	modelsAge   = 10 * time.Minute // then the list is fetched again, behind the answer
	modelsLimit = 30 * time.Second // of a cold start; a warm one takes below 10 s
)

// The list has a heading, lines "id - name" and perhaps a tip at the end; a name
// may end in (current), (default) or both, and in other brackets of its own.
var (
	modelLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._:/\[\]=,-]*)\s+-\s+(.+?)((?:\s+\((?:current|default)[^)]*\))*)$`)
	})
	noneOffered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)no (usable |available )?models`) })
	modelName   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/\[\]=,-]{0,199}$`)
	})
)

// modelList is a list and when it was fetched.
type modelList struct {
	models []chat.Model
	at     time.Time
}

// parseModels reads the output of `models`. Of equal ids the first counts.
func parseModels(text string) []chat.Model {
	var models []chat.Model
	seen := map[string]bool{}
	current := -1
	marked := false
	for line := range strings.SplitSeq(stripANSI(text), "\n") {
		m := modelLine().FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		isDefault := strings.Contains(m[3], "default")
		if strings.Contains(m[3], "current") && current < 0 {
			current = len(models)
		}
		models = append(models, chat.Model{ID: m[1], Name: m[2], Default: isDefault && !marked})
		marked = marked || isDefault
	}
	if !marked && current >= 0 {
		models[current].Default = true
	}
	return models
}

// Models implements chat.Backend. The list is kept; when it has grown old, the
// old one is returned at once and a new one is fetched behind it.
func (b *Backend) Models(ctx context.Context) ([]chat.Model, error) {
	if b.isClosed() {
		return nil, shuttingDown()
	}
	list := b.models.Load()
	if list == nil {
		if err := b.refreshModels(ctx); err != nil {
			return nil, err
		}
		list = b.models.Load()
	} else if time.Since(list.at) > modelsAge {
		b.refreshBehind(context.WithoutCancel(ctx))
	}
	return slices.Clone(list.models), nil
}

// refreshModels fetches the list, unless somebody else just did.
func (b *Backend) refreshModels(ctx context.Context) *chat.Error {
	if err := b.askingModels.acquire(ctx); err != nil {
		return chat.AsError(err)
	}
	defer b.askingModels.release()
	if list := b.models.Load(); list != nil && time.Since(list.at) <= modelsAge {
		return nil
	}
	return b.fetchModels(ctx)
}

// refreshBehind starts one fetch that no request waits for. If it fails, the old
// list stays.
func (b *Backend) refreshBehind(ctx context.Context) {
	select {
	case b.askingModels <- struct{}{}:
	default:
		return // one is under way
	}
	started := b.background(func() {
		defer b.askingModels.release()
		if err := b.fetchModels(ctx); err != nil {
			b.log.Warn("the list of models could not be fetched again", "error", err)
		}
	})
	if !started {
		b.askingModels.release()
	}
}

// fetchModels does not wait for a program that the user named to tell its
// version: nothing depends on it, and the list is wanted at the start.
func (b *Backend) fetchModels(ctx context.Context) *chat.Error {
	if c, ok := b.named(); ok {
		out, err := b.askModels(ctx, c)
		if err == nil || !unfit(err) {
			return b.takeModels(ctx, out, err)
		}
	}
	p, problem := b.locate(ctx)
	if problem != nil {
		return problem
	}
	out, err := b.askModels(ctx, p.command)
	return b.takeModels(ctx, out, err)
}

func (b *Backend) askModels(ctx context.Context, c command) (output, error) {
	passed, err := passGate(ctx, b.gate)
	if err != nil {
		return output{}, err
	}
	defer passed()
	return b.ask(ctx, c, b.env.vars, modelsLimit, "models")
}

// takeModels keeps the list that the command gave.
func (b *Backend) takeModels(ctx context.Context, out output, err error) *chat.Error {
	if err != nil {
		return b.askError(err)
	}
	models := parseModels(out.stdout)
	if len(models) == 0 {
		return b.noModels(ctx, out)
	}
	b.models.Store(&modelList{models: models, at: time.Now()})
	return nil
}

// noModels says why there is no list: the command's own words, the login, or
// both unknown.
func (b *Backend) noModels(ctx context.Context, out output) *chat.Error {
	failed := newParser(b.hide).endFailure(out.exit)
	if failed.class != classIncomplete && failed.class != classUnknown {
		return failed.chatError("")
	}
	if l, err := b.checkLogin(ctx); err != nil {
		return err
	} else if !l.loggedIn {
		return b.fail(classAuth, "")
	}
	switch {
	case out.exit.code != 0:
		return failed.chatError("")
	case noneOffered().MatchString(out.stdout):
		return &chat.Error{
			Kind: chat.Unavailable, Code: "cursor_no_models",
			Message: "Cursor offers this account no models. Look at its plan on cursor.com/dashboard, or log in to another account with `cursor-agent login`.",
		}
	}
	return &chat.Error{
		Kind: chat.Unavailable, Code: info(classOutdated).code,
		Message: "The list that `cursor-agent models` printed cannot be read. Update Cursor's CLI with `cursor-agent update`, and cursortray too. " +
			"Requests work all the same: name a model that you know, or auto.",
	}
}

// learnModels takes a refusal of a model as a second source of the list.
func (b *Backend) learnModels(ids []string) {
	if len(ids) == 0 || b.models.Load() != nil {
		return
	}
	models := make([]chat.Model, len(ids))
	for i, id := range ids {
		models[i] = chat.Model{ID: id, Name: id}
	}
	// Old from the start: the command gives names too.
	b.models.CompareAndSwap(nil, &modelList{models: models, at: time.Now().Add(-2 * modelsAge)})
}
