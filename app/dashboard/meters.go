package dashboard

import (
	"math/big"
	"strings"

	"cursortray/app"
)

// metersOf makes a meter of each line about the plan. Where the line's value is
// a part of a whole, the meter is filled.
func metersOf(plan app.PlanStatus) []meter {
	var list []meter
	for _, line := range plan.Lines {
		if line.Label == "" && line.Value == "" {
			continue
		}
		m := meter{Label: line.Label, Value: line.Value, Mood: "good"}
		if m.Percent, m.Known = percentIn(line.Value); m.Known {
			switch {
			case m.Percent >= 100:
				m.Mood = "bad"
			case m.Percent >= 80:
				m.Mood = "busy"
			}
		}
		list = append(list, m)
	}
	return list
}

// percentIn finds how full something is in a text such as "28.6%", "$12.88 of
// $20.00" or "31 of 500".
func percentIn(value string) (int, bool) {
	first, rest, _ := strings.Cut(value, " ")
	if number, ok := strings.CutSuffix(first, "%"); ok {
		if n, ok := amountOf(number); ok {
			return wholePercent(n), true
		}
	}
	whole, ok := strings.CutPrefix(rest, "of ")
	if !ok {
		return 0, false
	}
	whole, _, _ = strings.Cut(whole, " ")
	clean := strings.NewReplacer("$", "", ",", "")
	used, ok := amountOf(clean.Replace(first))
	all, ok2 := amountOf(clean.Replace(whole))
	if !ok || !ok2 || all.Sign() <= 0 {
		return 0, false
	}
	part := new(big.Rat).Quo(used, all)
	return wholePercent(part.Mul(part, big.NewRat(100, 1))), true
}

func wholePercent(n *big.Rat) int {
	percent, _ := n.Float64()
	return int(min(max(0, percent), 100))
}
