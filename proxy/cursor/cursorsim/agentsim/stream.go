package agentsim

import (
	"strings"
	"time"
)

// filler is the text that stream mode cuts its deltas from.
const filler = "the quick brown fox jumps over the lazy dog and then sits down to think about it "

// stream prints the script's number of deltas. Without an interval it writes
// in big pieces, so that a reader is never faster than the fake.
func (p *program) stream(opts options, prompt string) error {
	e := newEmitter(p.stdout, opts)
	e.open(opts, displayName(or(opts.model, "auto")), prompt)
	e.paced = p.script.Interval > 0
	size := p.script.Size
	if size <= 0 {
		size = 8
	}
	text := strings.Repeat(filler, size/len(filler)+1)[:size]
	ticks := newPacer(p.script.Interval)
	for range p.script.Thinking {
		ticks.wait()
		e.thinkingDelta(text)
	}
	if p.script.Thinking > 0 {
		e.thinkingDone()
	}
	if p.script.OpenTool > 0 {
		e.tool("shellToolCall", or(p.script.ToolArgs, `{"command":"sleep"}`), p.script.OpenTool)
	}
	for range p.script.Count {
		ticks.wait()
		e.textDelta(text)
	}
	if p.script.Cut {
		return e.out.Flush()
	}
	return e.close(&usage{Input: tokens(len(prompt)), Output: p.script.Count, CacheRead: 900})
}

// tokens is the fake's idea of a tokenizer.
func tokens(bytes int) int { return bytes/4 + 1 }

// pacer keeps an even pace: a late delta does not delay the following ones.
type pacer struct {
	interval time.Duration
	next     time.Time
}

func newPacer(interval time.Duration) *pacer {
	return &pacer{interval: interval, next: time.Now()}
}

func (p *pacer) wait() {
	if p.interval <= 0 {
		return
	}
	p.next = p.next.Add(p.interval)
	time.Sleep(time.Until(p.next))
}
