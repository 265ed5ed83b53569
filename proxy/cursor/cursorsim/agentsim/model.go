package agentsim

// model answers the prompt.
func (p *program) model(opts options, prompt string) error {
	e := newEmitter(p.stdout, opts)
	e.open(opts, displayName(or(opts.model, "auto")), prompt)
	e.thinkingDelta("The prompt is read.")
	e.thinkingDone()
	e.textDelta("This answer is simulated.")
	return e.close(usage{Input: tokens(len(prompt)), Output: 6})
}
