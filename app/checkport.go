package app

import (
	"context"
	"errors"
)

// CheckPort reports what keeps a proxy from listening on addr, in the words of
// ProxyStatus.Problem; nil when nothing does.
func CheckPort(ctx context.Context, addr string, allowRemote bool) error {
	cfg := New(Config{AllowRemote: allowRemote}).cfg
	ln, err := listen(&cfg, addr)
	var busy *busyError
	if errors.As(err, &busy) {
		busy.owner = portOwner(ctx, busy.port)
	}
	if err != nil {
		return err
	}
	return ln.Close()
}
