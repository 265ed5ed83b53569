package control

import (
	"os"
	"strings"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Status is what `cursortray status --json` prints. Fields are added over
// time, never renamed or removed.
type Status struct {
	Running bool    `json:"running"`           // false: no instance answers, see NotRunning
	Version string  `json:"version,omitempty"` // of the running instance
	PID     int     `json:"pid,omitempty"`     // its process
	Demo    bool    `json:"demo"`              // a simulated Cursor answers; nothing is real
	Proxy   Proxy   `json:"proxy"`
	Backend Backend `json:"backend"`
	Account Account `json:"account"` // at Cursor
	// Editors are those that have a key of their own or have asked; never null.
	Editors []Editor `json:"editors"`
	Guard   Guard    `json:"guard"`
	// Conversations of the last day, the newest first; never null.
	Conversations []Conversation `json:"conversations"`
	// Autostart says whether it starts when its user logs in.
	Autostart bool       `json:"autostart"`
	LogFile   string     `json:"log_file,omitempty"`  // where the log lies
	Recording *Recording `json:"recording,omitempty"` // of a request for a bug report
	Problems  []Problem  `json:"problems"`            // what is wrong now, the most urgent first; never null
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

// Recording is how it stands with the recording of a request.
type Recording struct {
	Waiting bool   `json:"waiting"`           // the next request is recorded
	N       int    `json:"n"`                 // counts what has been recorded
	Path    string `json:"path,omitempty"`    // of the last one
	Problem string `json:"problem,omitempty"` // why it could not be written
}

// Conversation is what is known of one conversation.
type Conversation struct {
	N       int       `json:"n"`                      // counts them
	Model   string    `json:"model"`                  // id, of the last turn
	Routed  string    `json:"routed_model,omitempty"` // name of the model that Cursor chose for it
	Turns   int       `json:"turns"`                  // a pause for a tool is none
	Last    time.Time `json:"last"`                   // end of the last turn
	Cost    string    `json:"cost_usd,omitempty"`     // by the table of prices
	AtLeast bool      `json:"cost_is_more,omitempty"` // some turns have no price, or may cost more
	Context *Context  `json:"context,omitempty"`
}

// Context is how full a conversation's window is.
type Context struct {
	Used    int      `json:"used_tokens"`
	Max     int      `json:"max_tokens,omitempty"`
	Percent *float64 `json:"percent,omitempty"`
	Stale   bool     `json:"stale"`           // the last turn did not report any
	Parts   []Part   `json:"parts,omitempty"` // estimates
}

// Part is a part of it.
type Part struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Tokens int    `json:"tokens"`
}

// conversationsOf translates the list of a Snapshot.
func conversationsOf(list *app.ConversationList) []Conversation {
	all := []Conversation{}
	if list == nil {
		return all
	}
	for _, c := range list.All {
		told := Conversation{N: c.N, Model: c.Model, Routed: c.Routed, Turns: c.Turns, Last: c.Last.UTC().Truncate(time.Second), Context: contextOf(c.Context)}
		if !c.Cost.IsZero() {
			told.Cost, told.AtLeast = strings.TrimPrefix(c.Cost.String(), "$"), c.Unpriced || c.Rough
		}
		all = append(all, told)
	}
	return all
}

func contextOf(c *chat.Context) *Context {
	if c == nil {
		return nil
	}
	told := &Context{Used: c.Used, Max: c.Max, Stale: c.Stale}
	if percent, ok := app.ContextPercent(c); ok {
		told.Percent = &percent
	}
	for _, p := range c.Parts {
		told.Parts = append(told.Parts, Part(p))
	}
	return told
}

// NotRunning is the status when no instance answers.
func NotRunning(account Account) Status {
	return Status{Proxy: Proxy{State: app.Stopped.String()}, Account: account, Conversations: []Conversation{}, Editors: []Editor{}, Problems: []Problem{}}
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
		Account:       accountOf(s.Account),
		Conversations: conversationsOf(s.Conversations),
		Editors:       editorsOf(s.Editors),
		Guard:         guardOf(s.Guard),
		Autostart:     s.Autostart.On,
		LogFile:       s.LogFile,
		Problems:      []Problem{},
	}
	if r := s.Recording; r != (app.RecordingStatus{}) {
		told := Recording(r)
		status.Recording = &told
	}
	if p := s.Backend.Problem; p != nil {
		status.Backend.Problem = p.Message
	}
	for _, p := range s.Problems() {
		status.Problems = append(status.Problems, Problem{p.Area, p.Message})
	}
	return status
}
