package agentcli

import "log/slog"

// guardian has nothing to do: the system ends a job when its last handle is
// closed, also because this program was killed.
type guardian struct{}

func newGuardian(*slog.Logger) *guardian { return &guardian{} }

func (*guardian) watch(*group) {}

func (*guardian) release(*group) {}

func (*guardian) close() {}
