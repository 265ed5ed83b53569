package turn

import "context"

type ownerKey struct{}

// WithKeyOwner notes whose local key a request has, an editor's id, for the
// turn that the request asks for.
func WithKeyOwner(ctx context.Context, editor string) context.Context {
	return context.WithValue(ctx, ownerKey{}, editor)
}

// keyOwner returns that editor; "" is the main key.
func keyOwner(ctx context.Context) string {
	editor, _ := ctx.Value(ownerKey{}).(string)
	return editor
}
