package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// What follows measures the agent back-end beside the bare server, before one
// simulated Cursor for both.

// agentRate: deltas per second, and processor time per delta.
func (b *bench) agentRate() error {
	for _, c := range []struct{ streams, count int }{{1, 400_000}, {16, 30_000}} {
		const size = 8
		err := b.agentPair(play{Deltas: simserver.Deltas{Count: c.count, Size: size}}, func(_ *simulated, both [2]*server) error {
			m, err := b.deltas(both, c.count, c.streams, 1)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%d B, %d streams", size, c.streams)
			b.out.atLeast("deltas per second, "+name, "/s", m[raw][0], m[ours][0], 0.4)
			b.out.atMost("processor time per delta, "+name, "ns", m[raw][1], m[ours][1], 2.5)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// agentFirst: from the request to its first text.
func (b *bench) agentFirst() error {
	return b.agentPair(play{Deltas: simserver.Deltas{Count: 5, Size: 8}}, func(_ *simulated, both [2]*server) error {
		m, err := b.each(both, b.rounds, func(s *server) ([]float64, error) {
			r, err := b.load(job{URL: s.url, Key: key, Streams: 1, Rounds: 100})
			if err != nil {
				return nil, err
			}
			return []float64{millis(percentile(r.First, 0.5))}, nil
		})
		if err != nil {
			return err
		}
		b.out.atMost("first text, median", "ms", m[raw][0], m[ours][0], 1.2)
		return nil
	})
}

// agentPace: how late tokens are with 64 streams of 50 tokens per second.
func (b *bench) agentPace() error {
	const streams, interval, count = 64, 20 * time.Millisecond, 250
	p := play{Deltas: simserver.Deltas{Count: count, Size: 16, Every: interval, Stamp: true}}
	return b.agentPair(p, func(_ *simulated, both [2]*server) error {
		m, err := b.each(both, b.rounds, func(s *server) ([]float64, error) {
			r, err := b.load(job{URL: s.url, Key: key, Streams: streams, Rounds: 1, Stamped: true})
			if err != nil {
				return nil, err
			}
			if want := streams * count; len(r.Late) != want {
				return nil, fmt.Errorf("%d tokens, want %d", len(r.Late), want)
			}
			return []float64{millis(percentile(r.Late, 0.5)), millis(percentile(r.Late, 0.99))}, nil
		})
		if err != nil {
			return err
		}
		b.out.atMost(fmt.Sprintf("delay per token, %d streams, median", streams), "ms", m[raw][0], m[ours][0], 2)
		b.out.atMost(fmt.Sprintf("delay per token, %d streams, p99", streams), "ms", m[raw][1], m[ours][1], 2)
		return nil
	})
}

// fewHeld and maxHeld are numbers of runs that wait for a tool. What a run
// takes is the difference between them, so that it is nothing of the server's
// own.
const fewHeld, maxHeld = 50, 250

// agentHeld: memory per run that waits for a tool.
func (b *bench) agentHeld() error {
	const blob = 64 << 10
	for _, c := range []struct {
		name string
		blob int
	}{{"memory per held run", 0}, {"memory per held run with a blob of 64 KB", blob}} {
		var per [2][]float64
		for range b.rounds {
			for k := raw; k <= ours; k++ {
				n, err := b.heldOnce(k, play{Call: true, Blob: c.blob})
				if err != nil {
					return fmt.Errorf("%s: %w", k, err)
				}
				per[k] = append(per[k], n)
			}
		}
		b.out.within(c.name, "KB", median(per[raw]), median(per[ours]), 1.6, float64(c.blob)/1024)
	}
	return nil
}

// heldOnce starts both processes, because memory that a server once had it
// keeps, and returns KB per run.
func (b *bench) heldOnce(k kind, p play) (float64, error) {
	s, err := b.simulate(p)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	srv, err := b.serveAgent(k, s)
	if err != nil {
		return 0, err
	}
	defer srv.stop()
	var size [2]int64
	for i, n := range []int{fewHeld, maxHeld - fewHeld} {
		const streams = 10
		if _, err := b.load(job{URL: srv.url, Key: key, Streams: streams, Rounds: n / streams, Tools: true}); err != nil {
			return 0, errors.Join(err, errors.New(srv.log.String()))
		}
		time.Sleep(time.Second) // connections of clients that left are cleared away
		if size[i], err = memory(srv.cmd.Process.Pid, "VmRSS"); err != nil {
			return 0, err
		}
	}
	if open, err := s.open(); err != nil || open != maxHeld {
		return 0, fmt.Errorf("%d runs are held, want %d: %w", open, maxHeld, err)
	}
	return float64(size[1]-size[0]) / 1024 / (maxHeld - fewHeld), nil
}

// open asks the simulated Cursor how many runs are open.
func (s *simulated) open() (int, error) {
	resp, err := http.Get(s.Control + "/state")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var state struct{ Runs struct{ Open int } }
	err = json.NewDecoder(resp.Body).Decode(&state)
	return state.Runs.Open, err
}

// agentLeave: when the service hears that the client has left.
func (b *bench) agentLeave() error {
	var gone [2][]time.Duration
	for k := raw; k <= ours; k++ {
		s, err := b.simulate(play{Deltas: simserver.Deltas{Count: 100_000, Size: 8, Every: 5 * time.Millisecond}})
		if err != nil {
			return err
		}
		srv, err := b.serveAgent(k, s)
		if err == nil {
			gone[k], err = srv.leaveOften(s.heard)
			srv.stop()
		}
		s.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	b.leaving("run cancelled", gone)
	return nil
}

// heard waits for the end of the run that a client left, in the service's eyes.
func (s *simulated) heard(left time.Time) (time.Duration, bool, error) {
	late := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	if !s.lines.Scan() {
		return 0, false, fmt.Errorf("the run was not given up within 10 s, or the simulated Cursor is gone: %w", s.lines.Err())
	}
	nanos, err := strconv.ParseInt(s.lines.Text(), 10, 64)
	return time.Unix(0, nanos).Sub(left), true, err
}
