package cursor

import (
	"strings"

	"cursortray/proxy/chat"
)

// Charge is what is to be priced: a model call, or the calls of a turn.
type Charge struct {
	// Model is an id, any other name of it, a variant's slug, or the name in a
	// usage event such as "Opus 5 (Auto Balanced)".
	Model string
	Fast  bool // the fast variant, also if Model does not say so
	Usage chat.Usage
	// Prompt is the number of tokens in the prompt of the largest call, which
	// decides whether the higher rates for long prompts count. 0 means that
	// Usage is one call with what it says in its prompt, unless Summed is set.
	Prompt int
	// Summed says that Usage adds up several calls, so that its sum says
	// nothing about any prompt.
	Summed    bool
	Team      bool // a Teams plan, which pays a fee per token
	LegacyMax bool // a request in Max Mode on an old plan that counts requests
}

// Cost is an estimate at the rates of Cursor's API: what a plan includes is
// not billed by the token.
type Cost struct {
	Money Money
	// Rough says that the rates for long prompts may have counted, which could
	// not be known.
	Rough bool
}

// SplitUsage makes a Usage of counts in which the input has the tokens of the
// cache in it, and the output those of the reasoning, as in the agent
// protocol's end of a turn. Counts that contradict each other are cut.
func SplitUsage(input, cacheRead, cacheWrite, output, reasoning int) chat.Usage {
	input, output = max(0, input), max(0, output)
	read := min(max(0, cacheRead), input)
	write := min(max(0, cacheWrite), input-read)
	return chat.Usage{
		Input: input - read - write, CacheRead: read, CacheWrite: write,
		Output: output, Reasoning: min(max(0, reasoning), output),
	}
}

// Cost returns what c costs; false if that is not known, which is not nothing.
func (p *Prices) Cost(c Charge) (Cost, bool) {
	row, fast := p.find(c.Model)
	if row == nil {
		return Cost{}, false
	}
	card := row.rates
	if fast || c.Fast {
		card = row.fast
	}
	if len(card) == 0 {
		return Cost{}, false
	}
	u := c.Usage
	input, read, write, output := max(0, u.Input), max(0, u.CacheRead), max(0, u.CacheWrite), max(0, u.Output)
	sum := float64(input) + float64(read) + float64(write)
	prompt := float64(c.Prompt)
	if c.Prompt <= 0 && !c.Summed {
		prompt = sum
	}
	r := card.forPrompt(prompt)
	var cost Cost
	cost.Rough = c.Summed && c.Prompt <= 0 && card.forPrompt(sum).above > 0
	var total sum128
	total.add(input, r.input)
	total.add(read, r.cacheRead)
	total.add(write, r.cacheWrite)
	total.add(output, r.output)
	if c.Team && !row.auto() && !strings.Contains(strings.ToLower(c.Model), "(auto") {
		for _, n := range []int{input, read, write, output} {
			total.add(n, p.teamFee)
		}
	}
	var ok bool
	if cost.Money, ok = total.money(); ok && c.LegacyMax {
		cost.Money, ok = cost.Money.Times(p.legacyFactor, 100)
	}
	if !ok {
		return Cost{}, false
	}
	return cost, true
}

// find returns the row of a model and whether the name is that of its fast
// variant. The whole name is tried before anything is cut from it, because
// "fast" and "max" are part of some.
func (p *Prices) find(name string) (row *priceRow, fast bool) {
	if row, fast = p.findID(name); row != nil {
		return row, fast
	}
	// A label such as "Opus 5 (Auto Balanced)".
	label, _, _ := strings.Cut(name, "(")
	id := strings.Join(strings.Fields(label), "-")
	if row, fast = p.findID(id); row != nil {
		return row, fast
	}
	return p.findID("claude-" + id)
}

func (p *Prices) findID(name string) (row *priceRow, fast bool) {
	forms, _ := plainForms(name)
	for _, form := range forms {
		if n, ok := p.names[form]; ok {
			return n.row, false
		}
	}
	var cut suffixes
	rest := forms[len(forms)-1]
	for cut.next(&rest) {
		if n, ok := p.names[rest]; ok {
			return n.row, cut.want.fast == On
		}
	}
	return nil, false
}
