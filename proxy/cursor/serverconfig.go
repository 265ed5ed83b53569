package cursor

import (
	"context"
	"net/http"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// configTimeout bounds the one call; public clients use 5 to 8 s.
const configTimeout = 8 * time.Second

// AgentHost knows which of Cursor's regional hosts runs the models of the
// account. Its answer is kept in memory only, for as long as the access token
// is the same. It is safe for use by several goroutines and starts none.
type AgentHost struct {
	client *http.Client
	url    string
	tokens *TokenSource
	fixed  string

	mu     sync.Mutex
	lookup *lookup // the running or last one
}

// lookup is one question to the server.
type lookup struct {
	token  string // it was asked for
	done   chan struct{}
	origin string // valid after done
	err    error  // valid after done
}

// NewAgentHost returns an AgentHost that asks with client, whose Transport
// adds the login of tokens. override, if not "", is the user's choice and is
// held to the same rules as what the server names.
func NewAgentHost(client *http.Client, hosts Hosts, tokens *TokenSource, override string) (*AgentHost, error) {
	a := &AgentHost{client: client, tokens: tokens, url: hosts.API() + "/aiserver.v1.ServerConfigService/GetServerConfig"}
	if override != "" {
		var err error
		if a.fixed, err = ParseAgentURL(override); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Origin returns the host as https://name. If it cannot be learnt the error is
// a *chat.Error; no other host will do, because the wrong region accepts a
// call and then ends it.
func (a *AgentHost) Origin(ctx context.Context) (string, error) {
	if a.fixed != "" {
		return a.fixed, nil
	}
	token, err := a.tokens.Token(ctx)
	if err != nil {
		return "", err
	}
	for {
		l, mine := a.join(token)
		if mine {
			l.origin, l.err = a.ask(ctx)
			if l.err != nil {
				a.drop(l)
			}
			close(l.done)
			return l.origin, l.err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return "", chat.AsError(ctx.Err())
		}
		if l.err == nil || chat.AsError(l.err).Kind != chat.Canceled {
			return l.origin, l.err
		}
		// The one who asked has left before the answer.
	}
}

// Forget makes the next call ask again: after a log-out, or when the host says
// that it is the wrong region.
func (a *AgentHost) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lookup = nil
}

// join returns the lookup for token, and whether the caller has to do it.
func (a *AgentHost) join(token string) (l *lookup, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lookup == nil || a.lookup.token != token {
		a.lookup, mine = &lookup{token: token, done: make(chan struct{})}, true
	}
	return a.lookup, mine
}

// drop forgets l, so that a failure is not kept.
func (a *AgentHost) drop(l *lookup) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lookup == l {
		a.lookup = nil
	}
}

func (a *AgentHost) ask(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, configTimeout)
	defer cancel()
	var in struct {
		Telemetry bool `json:"telem_enabled"`
	}
	var out struct {
		AgentURLConfig struct {
			AgentnURL string `json:"agentnUrl"`
			AgentURL  string `json:"agentUrl"`
		} `json:"agentUrlConfig"`
	}
	if err := call(ctx, a.client, a.url, in, &out); err != nil {
		return "", err
	}
	named := out.AgentURLConfig.AgentnURL
	if named == "" {
		named = out.AgentURLConfig.AgentURL
	}
	origin, err := ParseAgentURL(named)
	if err != nil {
		return "", &chat.Error{Kind: chat.BadGateway, Code: CodeServer, Err: err,
			Message: "Cursor's server settings cannot be used: " + err.Error()}
	}
	return origin, nil
}
