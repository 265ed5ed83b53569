package cursor

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"time"

	"cursortray/proxy/money"
)

// Plan tells how much of the account's plan is used. What Cursor does not
// report has its zero value. Plans can be compared with ==.
type Plan struct {
	Name  string    `json:"name,omitzero"` // "Pro"
	State PlanState `json:"state"`
	Team  bool      `json:"team,omitzero"` // a seat in a team

	// The parts that are used of the allowances for Cursor's own models and for
	// those of others.
	CursorModels Percent `json:"cursor_models_percent,omitzero"`
	OtherModels  Percent `json:"other_models_percent,omitzero"`

	Included Amount   `json:"included,omitzero"` // usage at API rates that the price includes
	Bonus    Money    `json:"bonus_usd,omitzero"`
	OnDemand OnDemand `json:"on_demand,omitzero"`
	Pool     Amount   `json:"pool,omitzero"`             // shared by the team
	Requests Requests `json:"requests,omitzero"`         // of plans that count them
	Credits  Money    `json:"credits_left_usd,omitzero"` // granted or paid in advance
	Stage    Stage    `json:"stage,omitzero"`

	Resets  time.Time `json:"resets_at,omitzero"`
	Fetched time.Time `json:"fetched_at,omitzero"` // zero: never
}

// PlanState sums up a Plan.
type PlanState int8

// The values of a PlanState.
const (
	PlanNotReported PlanState = iota // Cursor gives no figures for this plan
	PlanOK
	PlanNear    // 80 percent of an allowance are used
	PlanLimited // an allowance is used up
)

var planStates = [...]string{"not_reported", "ok", "near_limit", "limited"}

func (s PlanState) String() string { return planStates[s] }

// MarshalText returns the name of the state.
func (s PlanState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Stage is what Cursor does with requests of an account above its limit.
type Stage string

// The values of a Stage; "" is not known, or no limit was hit.
const (
	StageAutoSwitch Stage = "auto_switch" // Cursor chooses the model
	StageSlowPool   Stage = "slow_pool"   // answers wait
	StageHardBlock  Stage = "hard_block"  // no answers
)

// Amount is a part of a sum. There is none if Limit is zero.
type Amount struct {
	Used  Money `json:"used_usd"`
	Limit Money `json:"limit_usd"`
}

// Percent returns how much of it is used.
func (a Amount) Percent() Percent {
	if a.Limit.IsZero() {
		return Percent{}
	}
	twice, ok := a.Used.Times(2000, a.Limit.Pico())
	if !ok || twice.Pico() >= 2000 {
		return Percent{true, 1000}
	}
	return Percent{true, int16((twice.Pico() + 1) / 2)}
}

// OnDemand is what is used beyond the plan and paid for by use.
type OnDemand struct {
	State OnDemandState `json:"state"`
	Used  Money         `json:"used_usd"`
	Limit Money         `json:"limit_usd,omitzero"` // zero: none is known
}

// OnDemandState says whether there is on-demand usage.
type OnDemandState string

// The values of an OnDemandState; "" is not known.
const (
	OnDemandOff OnDemandState = "off"
	OnDemandOn  OnDemandState = "on"
)

// Requests counts the requests of an older plan. There are none if Limit is 0.
type Requests struct {
	Used  int `json:"used"`
	Limit int `json:"limit"`
}

// Percent returns how many of them are used.
func (r Requests) Percent() Percent {
	if r.Limit <= 0 {
		return Percent{}
	}
	return newPercent(float64(r.Used) * 100 / float64(r.Limit))
}

// Percent is a percentage with one decimal, from 0 to 100. Its zero value is
// one that is not known.
type Percent struct {
	known  bool
	tenths int16
}

// newPercent rounds half away from zero, in the decimal number that a float
// stands for: 41.25 is 41.3.
func newPercent(percent float64) Percent {
	if math.IsNaN(percent) {
		return Percent{}
	}
	percent = min(max(percent, 0), 100)
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(percent, 'f', -1, 64))
	if !ok {
		return Percent{}
	}
	exact.Mul(exact, big.NewRat(10, 1)).Add(exact, big.NewRat(1, 2))
	return Percent{true, int16(new(big.Int).Div(exact.Num(), exact.Denom()).Int64())}
}

// Known says whether it is known.
func (p Percent) Known() bool { return p.known }

// Tenths returns it in tenths of a percent.
func (p Percent) Tenths() int { return int(p.tenths) }

// String returns "41.3%" or "100%", "" if it is not known.
func (p Percent) String() string {
	if !p.known {
		return ""
	}
	return money.FormatDecimal(int64(p.tenths), 1, 0) + "%"
}

// MarshalJSON returns a number, or null if it is not known.
func (p Percent) MarshalJSON() ([]byte, error) {
	if !p.known {
		return []byte("null"), nil
	}
	return json.Marshal(json.Number(money.FormatDecimal(int64(p.tenths), 1, 0)))
}
