package choice

import "context"

type toldKey struct{}

// WithTold returns a context for Chat that has told called, before the turn
// begins, with the ID of the way that answers it.
func WithTold(ctx context.Context, told func(id string)) context.Context {
	return context.WithValue(ctx, toldKey{}, told)
}

func tell(ctx context.Context, id string) {
	if told, ok := ctx.Value(toldKey{}).(func(string)); ok {
		told(id)
	}
}
