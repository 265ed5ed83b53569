package control

import (
	"os"

	"cursortray/app"
)

// Status is what `cursortray status --json` prints. Fields are added over
// time, never renamed or removed.
type Status struct {
	Running  bool      `json:"running"`           // false: no instance answers, see NotRunning
	Version  string    `json:"version,omitempty"` // of the running instance
	PID      int       `json:"pid,omitempty"`     // its process
	Demo     bool      `json:"demo"`              // a simulated Cursor answers; nothing is real
	Proxy    Proxy     `json:"proxy"`
	Backend  Backend   `json:"backend"`
	Account  Account   `json:"account"`  // at Cursor
	Problems []Problem `json:"problems"` // what is wrong now, the most urgent first; never null
}

// Proxy is the local port.
type Proxy struct {
	State   string `json:"state"`              // stopped, starting, running, stopping or blocked
	Address string `json:"address,omitempty"`  // HOST:PORT it listens on, or will
	BaseURL string `json:"base_url,omitempty"` // what an OpenAI client is given
	Owner   string `json:"owner,omitempty"`    // with blocked: the program that holds the port, if known
	Problem string `json:"problem,omitempty"`  // with blocked: what is wrong
	Active  int    `json:"active"`             // requests being answered
}

// Backend is what answers the requests.
type Backend struct {
	Name    string `json:"name,omitempty"`    // cursor-agent, or demo
	Choice  string `json:"choice,omitempty"`  // the setting: auto, agent or cli
	Reason  string `json:"reason,omitempty"`  // why this one
	Account string `json:"account,omitempty"` // who is logged in, if known
	Problem string `json:"problem,omitempty"` // what a request would fail with now
}

// Problem is one thing that is wrong.
type Problem struct {
	Area    string `json:"area"`    // port, key, login, plan or backend
	Message string `json:"message"` // what it is and what to do
}

// NotRunning is the status when no instance answers.
func NotRunning(account Account) Status {
	return Status{Proxy: Proxy{State: app.Stopped.String()}, Account: account, Problems: []Problem{}}
}

// statusOf translates a Snapshot.
func statusOf(s app.Snapshot) Status {
	status := Status{
		Running: true,
		Version: s.Version,
		PID:     os.Getpid(),
		Demo:    s.Demo,
		Proxy: Proxy{
			State:   s.Proxy.State.String(),
			Address: s.Proxy.Addr,
			BaseURL: s.Proxy.BaseURL,
			Owner:   s.Proxy.Owner,
			Problem: s.Proxy.Problem,
			Active:  s.Proxy.Active,
		},
		Backend: Backend{
			Name:    s.Backend.Name,
			Choice:  s.Backend.Choice,
			Reason:  s.Backend.Reason,
			Account: s.Backend.Account,
		},
		Account:  accountOf(s.Account),
		Problems: []Problem{},
	}
	if p := s.Backend.Problem; p != nil {
		status.Backend.Problem = p.Message
	}
	for _, p := range s.Problems() {
		status.Problems = append(status.Problems, Problem{p.Area, p.Message})
	}
	return status
}
