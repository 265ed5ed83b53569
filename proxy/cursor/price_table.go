package cursor

import (
	"math"
	"math/bits"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/money"
)

const (
	// rateDigits: a rate of the table is a number of 1/10,000 dollars per
	// million tokens, which is 100 picodollars per token.
	rateDigits  = 4
	picoPerRate = 100
	maxRate     = 1_000_000 * 10_000
)

// Prices is a table of models and what Cursor charges for them. It does not
// change.
type Prices struct {
	asOf         time.Time
	rows         []priceRow
	names        map[string]priceName
	teamFee      int64 // a rate
	legacyFactor int64 // in hundredths
}

type priceRow struct {
	figures     Figures
	rates, fast rateCard // empty: there is no price
}

// auto says whether it is the model that Cursor chooses itself.
func (r *priceRow) auto() bool { return r.figures.ID == "default" }

type priceName struct {
	row  *priceRow
	only bool // of another model, which costs as much
}

// rateCard holds the rates by the length of the prompt, the shortest first.
type rateCard []rates

type rates struct {
	above                                int // tokens in the prompt of one call
	input, output, cacheRead, cacheWrite int64
	hasRead, hasWrite                    bool // false: as input
}

// forPrompt returns the rates that count for all of a request.
func (c rateCard) forPrompt(tokens float64) rates {
	r := c[0]
	for _, next := range c[1:] {
		if tokens > float64(next.above) {
			r = next
		}
	}
	return r
}

// sum128 adds up tokens times rates.
type sum128 struct{ high, low uint64 }

func (s *sum128) add(tokens int, rate int64) {
	high, low := bits.Mul64(uint64(tokens), uint64(rate))
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += high + carry // a rate is below 2^34, so five of these have room
}

func (s *sum128) money() (Money, bool) {
	if s.high != 0 || s.low > math.MaxInt64/picoPerRate {
		return Money{}, false
	}
	return money.OfPico(int64(s.low) * picoPerRate), true
}

// AsOf returns the date of the newest price: "2026-10-10".
func (p *Prices) AsOf() string { return p.asOf.Format(time.DateOnly) }

// Figures implements PriceTable.
func (p *Prices) Figures(name string) (Figures, bool) {
	n, ok := p.names[name]
	if !ok {
		return Figures{}, false
	}
	f := n.row.figures
	f.PriceOnly = n.only
	return f, true
}

// Price implements PriceTable, with the rates for short prompts.
func (p *Prices) Price(id string, fast bool) (chat.Price, bool) {
	row := p.names[id].row
	if row == nil {
		return chat.Price{}, false
	}
	card := row.rates
	if fast {
		card = row.fast
	}
	if len(card) == 0 {
		return chat.Price{}, false
	}
	r := card[0]
	price := chat.Price{Input: perToken(r.input), Output: perToken(r.output)}
	if r.hasRead {
		price.CacheRead = perToken(r.cacheRead)
	}
	if r.hasWrite {
		price.CacheWrite = perToken(r.cacheWrite)
	}
	return price, true
}

// perToken is a rate in dollars per token: "0.000005".
func perToken(rate int64) string { return money.FormatDecimal(rate, rateDigits+6, 0) }
