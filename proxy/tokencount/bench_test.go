package tokencount

import (
	"strings"
	"sync"
	"testing"

	"cursortray/proxy/chat"
)

// typical is as large as the first request of an agent.
func typical() *chat.Request {
	req := request()
	req.System = strings.Repeat(prose+source+data, 80)
	return req
}

// BenchmarkThirtyAtOnce is what Claude Code asks when its user looks at the
// context. All thirty together must stay well below a second, the vocabulary
// included.
func BenchmarkThirtyAtOnce(b *testing.B) {
	req, c := typical(), New()
	b.SetBytes(30 * int64(len(req.System)))
	for b.Loop() {
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() { c.Request(req) })
		}
		wg.Wait()
	}
}

func BenchmarkEstimate(b *testing.B) {
	req := typical()
	b.ReportAllocs()
	for b.Loop() {
		Estimate(req)
	}
}

func BenchmarkEstimatorDelta(b *testing.B) {
	var e Estimator
	b.ReportAllocs()
	for b.Loop() {
		e.Add("tokens, ")
	}
}
