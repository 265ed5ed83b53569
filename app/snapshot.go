package app

import (
	"slices"

	"cursortray/proxy"
	"cursortray/proxy/chat"
)

// Snapshot is the whole visible state at one moment: an immutable value that
// can be compared with ==.
type Snapshot struct {
	Version string
	Demo    bool // nothing is real
	Proxy   ProxyStatus
	Backend BackendStatus
	Account AccountStatus
	Models  ModelsStatus
	Plan    PlanStatus
	// Conversations are those of the last day; nil: there are none.
	Conversations *ConversationList
	// Recent are the last requests for a model; nil: there were none.
	Recent *RequestList
	Guard  GuardStatus
	// Editors are those that can be set up or have asked; nil: none is known.
	Editors   *EditorList
	Autostart AutostartStatus
	LogFile   string // "" when the log goes elsewhere
	Recording RecordingStatus
	// Notifications lists the kinds of notifications that are shown, separated by
	// commas; "none" or "" for no kind.
	Notifications string
	// NoTray says why there is no icon, after some time of waiting; "" while there
	// is one, or none is wanted.
	NoTray string
	// KeyProblem says why the local key cannot be read; "" when it can or is
	// not yet needed.
	KeyProblem string
	KeyKeyring Keyring // what keeps it from being read, as far as that is known
	// Preferences are settings that can be changed here.
	Preferences Preferences
	Notice      Notice
}

// ProxyStatus is the state of the local port.
type ProxyStatus struct {
	State   ProxyState
	Addr    string // HOST:PORT it listens on, or will
	BaseURL string // what an OpenAI client is given; "" while the port is not known
	Owner   string // with Blocked: the program that holds the port, "" when the system does not tell
	Problem string // with Blocked: what is wrong, in words
	Next    string // with Blocked: an address that is free, "" when none was found
	Broke   bool   // with Blocked: it did run
	Active  int    // requests being answered
}

// ProxyState is where the proxy is in its life.
type ProxyState int

const (
	Stopped  ProxyState = iota // the port is closed
	Starting                   // the port is being opened
	Running                    // requests are accepted
	Stopping                   // the port is closed, running answers end
	Blocked                    // the port could not be opened or broke; StartProxy tries again
)

var proxyStateNames = [...]string{"stopped", "starting", "running", "stopping", "blocked"}

func (s ProxyState) String() string {
	if s < 0 || int(s) >= len(proxyStateNames) {
		return "unknown"
	}
	return proxyStateNames[s]
}

// BackendStatus is the state of what answers the requests.
type BackendStatus struct {
	ID     string // agent, cli or demo; "" is not known
	Name   string
	Choice string // the setting that led to it
	Reason string // why this one; may be empty
	// Fixed says that Choice cannot be changed.
	Fixed   bool
	Account string // who is logged in; "" when the back-end does not tell
	// Problem is what a request would fail with now; nil when all is well or
	// nothing is known yet. Its kind says what is wrong, its message the
	// remedy.
	Problem *chat.Error
}

// Notice is a short message about the last action. N counts notices, so that
// the same text twice is two notices. Text is emptied after a while.
type Notice struct {
	Text string
	N    int
}

// Problems lists what is wrong, in words, the most urgent first.
func (s Snapshot) Problems() []proxy.Problem {
	var list []proxy.Problem
	if s.Proxy.Problem != "" {
		list = append(list, proxy.Problem{Area: "port", Message: s.Proxy.Problem})
	}
	if s.KeyProblem != "" {
		list = append(list, proxy.Problem{Area: "key", Message: s.KeyProblem})
	}
	// Where the CLI answers no request needs the login.
	if p := s.Account.Problem; p != nil && s.Backend.ID != "cli" {
		list = append(list, proxy.Problem{Area: "login", Message: p.Message})
	}
	if p := s.Backend.Problem; p != nil {
		told := proxy.Problem{Area: area(p.Kind), Message: p.Message}
		if !slices.Contains(list, told) { // the back-end finds no login either
			list = append(list, told)
		}
	}
	return list
}

// Health is the state as the proxy's health route reports it.
func (s Snapshot) Health() proxy.Health {
	h := proxy.Health{
		Status:   "ok",
		Version:  s.Version,
		Demo:     s.Demo,
		Backend:  s.Backend.Name,
		Choice:   s.Backend.Choice,
		Reason:   s.Backend.Reason,
		Problems: s.Problems(),
	}
	if len(h.Problems) > 0 {
		h.Status = "problem"
	}
	return h
}

// area names the part of the program that a back-end's error is about.
func area(kind chat.Kind) string {
	switch kind {
	case chat.LoginRequired:
		return "login"
	case chat.NotInPlan, chat.QuotaSpent:
		return "plan"
	default:
		return "backend"
	}
}
