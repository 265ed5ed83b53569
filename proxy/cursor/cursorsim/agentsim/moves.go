package agentsim

import (
	"encoding/json"
	"strings"
)

// Move is one thing that a scripted answer does. Exactly one field is set.
type Move struct {
	Say   string   `json:"say,omitempty"`
	Think string   `json:"think,omitempty"`
	Use   *Use     `json:"use,omitempty"`
	Usage *Figures `json:"usage,omitempty"`
	Die   bool     `json:"die,omitempty"`  // ends without a result
	Hang  bool     `json:"hang,omitempty"` // stays silent
}

// Use is a call of a client's tool.
type Use struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Figures are the tokens that the result reports.
type Figures struct{ Input, CacheRead, CacheWrite, Output, Reasoning int }

// moves plays the script's answer to the last speaker of the prompt.
func (p *program) moves(opts options, prompt string) error {
	list := p.script.Answer
	if blocks := readPrompt(prompt).blocks; len(blocks) > 0 && strings.HasPrefix(blocks[len(blocks)-1].header, resultHeader) {
		list = p.script.After
	}
	e := newEmitter(p.stdout, opts)
	e.open(opts, displayName(or(opts.model, "auto")), prompt)
	e.paced = true
	var figures *usage
	for _, m := range list {
		switch {
		case m.Say != "":
			e.textDelta(m.Say)
		case m.Think != "":
			e.thinkingDelta(m.Think)
		case m.Use != nil:
			crumbs(callBlock(m.Use.Name, m.Use.Arguments), e.textDelta)
		case m.Usage != nil:
			u := *m.Usage
			figures = &usage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning}
		case m.Die:
			return e.out.Flush()
		case m.Hang:
			hold()
		}
	}
	return e.close(figures)
}
