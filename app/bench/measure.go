package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measurements are the targets of the project, in the order of the table, and
// beside what each is measured: a server that passes on what the same
// cursor-agent says, or one that decodes what the same simulated Cursor sends.
var measurements = []struct {
	name      string
	yardstick string
	run       func(*bench) error
}{
	{"rate", passThrough, (*bench).rate},
	{"first", passThrough, (*bench).first},
	{"pace", passThrough, (*bench).pace},
	{"big", passThrough, (*bench).big},
	{"start", passThrough, (*bench).start},
	{"leave", passThrough, (*bench).leave},
	{"steady", passThrough, (*bench).steady},
	{"idle", nothing, (*bench).idle},
	{"agent-rate", bareServer, (*bench).agentRate},
	{"agent-first", bareServer, (*bench).agentFirst},
	{"agent-pace", bareServer, (*bench).agentPace},
	{"agent-held", bareServer, (*bench).agentHeld},
	{"agent-leave", bareServer, (*bench).agentLeave},
}

const passThrough, bareServer, nothing = "pass-through", "bare server", "nothing"

func names() string {
	var all []string
	for _, m := range measurements {
		all = append(all, m.name)
	}
	return strings.Join(all, ", ")
}

// pair starts both servers with one script, warms them, and calls f with them.
func (b *bench) pair(s script, f func(both [2]*server) error) error {
	return b.both(func(k kind) (*server, error) { return b.serve(k, s) }, f)
}

// both is pair for servers that serve starts.
func (b *bench) both(serve func(kind) (*server, error), f func(both [2]*server) error) error {
	var both [2]*server
	for k := raw; k <= ours; k++ {
		srv, err := serve(k)
		if err != nil {
			return err
		}
		defer srv.stop()
		if err := b.warm(srv); err != nil {
			return errors.Join(err, errors.New(srv.log.String()))
		}
		both[k] = srv
	}
	return f(both)
}

// each runs f for both servers in turn, rounds times, and returns the medians
// of what it gave.
func (b *bench) each(both [2]*server, rounds int, f func(*server) ([]float64, error)) (medians [2][]float64, err error) {
	var all [2][][]float64
	for range rounds {
		for k, srv := range both {
			values, err := f(srv)
			if err != nil {
				return medians, fmt.Errorf("%s: %w", srv.kind, err)
			}
			all[k] = append(all[k], values)
		}
	}
	for k := range all {
		for i := range all[k][0] {
			var column []float64
			for _, values := range all[k] {
				column = append(column, values[i])
			}
			medians[k] = append(medians[k], median(column))
		}
	}
	return medians, nil
}

// rate: deltas per second, and processor time per delta.
func (b *bench) rate() error {
	cases := []struct {
		size, streams, count, rounds int
		target                       float64
	}{
		{8, 1, 400_000, 1, 0.6}, {8, 16, 40_000, 1, 0.6}, {1024, 1, 15_000, 3, 0.7}, {1024, 16, 5_000, 1, 0.7},
	}
	for _, c := range cases {
		err := b.pair(script{Mode: "stream", Count: c.count, Size: c.size}, func(both [2]*server) error {
			m, err := b.deltas(both, c.count, c.streams, c.rounds)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%d B, %d streams", c.size, c.streams)
			b.out.atLeast("deltas per second, "+name, "/s", m[raw][0], m[ours][0], c.target)
			b.out.atMost("processor time per delta, "+name, "ns", m[raw][1], m[ours][1], 2.5)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deltas returns deltas per second and nanoseconds of processor time per delta.
func (b *bench) deltas(both [2]*server, count, streams, rounds int) ([2][]float64, error) {
	return b.each(both, b.rounds, func(s *server) ([]float64, error) {
		before, err := cpu(s.cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		r, err := b.load(job{URL: s.url, Key: key, Streams: streams, Rounds: rounds})
		if err != nil {
			return nil, err
		}
		after, err := cpu(s.cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		if want := count * streams * rounds; r.Chunks != want {
			return nil, fmt.Errorf("%d chunks with text, want %d", r.Chunks, want)
		}
		return []float64{float64(r.Chunks) / r.Span.Seconds(), float64((after - before).Nanoseconds()) / float64(r.Chunks)}, nil
	})
}

// first: from the request to its first text.
func (b *bench) first() error {
	for _, c := range []struct {
		streams, rounds int
		target          float64
	}{{1, 40, 1.15}, {64, 1, 1.4}} {
		err := b.pair(script{Mode: "stream", Count: 5, Size: 8}, func(both [2]*server) error {
			m, err := b.each(both, b.rounds, func(s *server) ([]float64, error) {
				r, err := b.load(job{URL: s.url, Key: key, Streams: c.streams, Rounds: c.rounds})
				if err != nil {
					return nil, err
				}
				return []float64{millis(percentile(r.First, 0.5))}, nil
			})
			if err != nil {
				return err
			}
			b.out.atMost(fmt.Sprintf("first text, %d streams, median", c.streams), "ms", m[raw][0], m[ours][0], c.target)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pace: how late tokens are with 64 streams of 50 tokens per second.
func (b *bench) pace() error {
	const streams, interval, count = 64, 20 * time.Millisecond, 200
	return b.pair(script{Mode: "stream", Count: count, Size: 8, Interval: interval}, func(both [2]*server) error {
		m, err := b.each(both, min(b.rounds, 3), func(s *server) ([]float64, error) {
			r, err := b.load(job{URL: s.url, Key: key, Streams: streams, Rounds: 1, Interval: interval})
			if err != nil {
				return nil, err
			}
			return []float64{millis(percentile(r.Late, 0.99))}, nil
		})
		if err != nil {
			return err
		}
		b.out.atMost("delay per token, 64 streams, p99", "ms", m[raw][0], m[ours][0], 2)
		return nil
	})
}

// big: an answer of 10 MB.
func (b *bench) big() error {
	return b.pair(script{Mode: "stream", Count: 10 << 10, Size: 1 << 10}, func(both [2]*server) error {
		m, err := b.each(both, b.rounds, func(s *server) ([]float64, error) {
			pid := s.cmd.Process.Pid
			before, err := memory(pid, "VmRSS")
			if err != nil {
				return nil, err
			}
			if err := resetPeak(pid); err != nil {
				return nil, err
			}
			r, err := b.load(job{URL: s.url, Key: key, Streams: 1, Rounds: 1})
			if err != nil {
				return nil, err
			}
			peak, err := memory(pid, "VmHWM")
			return []float64{millis(r.Total), mega(peak - before)}, err
		})
		if err != nil {
			return err
		}
		b.out.atMost("answer of 10 MB, time", "ms", m[raw][0], m[ours][0], 1.6)
		b.out.limit("answer of 10 MB, memory growth", "MB", m[raw][1], m[ours][1], 32)
		return nil
	})
}

// start: from the start of the program to the first model list, and what it
// takes when idle.
func (b *bench) start() error {
	var took, idle [2][]float64
	for range max(b.rounds, 5) {
		for k := raw; k <= ours; k++ {
			s, err := b.serve(k, script{Mode: "stream", Count: 1})
			if err != nil {
				return err
			}
			err = s.models(10 * time.Second)
			took[k] = append(took[k], millis(time.Since(s.started)))
			time.Sleep(300 * time.Millisecond) // what the start left behind
			size, sizeErr := memory(s.cmd.Process.Pid, "VmRSS")
			idle[k] = append(idle[k], mega(size))
			s.stop()
			if err := errors.Join(err, sizeErr); err != nil {
				return err
			}
		}
	}
	b.out.atMost("start to first model list", "ms", median(took[raw]), median(took[ours]), 2.5)
	b.out.atMost("memory when idle", "MB", median(idle[raw]), median(idle[ours]), 2.5)
	return nil
}

// leave: how long the child stays after its client has left.
func (b *bench) leave() error {
	var gone [2][]time.Duration
	for k := raw; k <= ours; k++ {
		pids, err := os.MkdirTemp(b.dir, "pids")
		if err != nil {
			return err
		}
		s, err := b.serve(k, script{Mode: "stream", Count: 100_000, Size: 8, Interval: 5 * time.Millisecond}, "CURSORSIM_PIDS="+pids)
		if err != nil {
			return err
		}
		gone[k], err = s.leaveOften(func(left time.Time) (time.Duration, bool, error) {
			running, err := anyAlive(pids)
			return time.Since(left), !running, err
		})
		s.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	b.leaving("child gone", gone)
	return nil
}

const leaveTimes, leaveLimit = 20, 100 * time.Millisecond

// leaveOften returns what leaveOnce took, sorted.
func (s *server) leaveOften(isGone func(left time.Time) (time.Duration, bool, error)) ([]time.Duration, error) {
	var all []time.Duration
	for range leaveTimes {
		took, err := s.leaveOnce(isGone)
		if err != nil {
			return nil, err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	return all, nil
}

func (b *bench) leaving(what string, gone [2][]time.Duration) {
	in := 0
	for _, took := range gone[ours] {
		if took <= leaveLimit {
			in++
		}
	}
	b.out.limit("client leaves, "+what+", longest", "ms", millis(gone[raw][leaveTimes-1]), millis(gone[ours][leaveTimes-1]), millis(leaveLimit))
	b.out.row("client leaves, "+what+" in 100 ms", "", fmt.Sprintf("%d of %d", in, leaveTimes), "", "all", in == leaveTimes)
}

// leaveOnce starts an answer, leaves at its first text and returns how long it
// took after that until nothing was left of it behind the server.
func (s *server) leaveOnce(isGone func(left time.Time) (time.Duration, bool, error)) (time.Duration, error) {
	req, err := newRequest(s.url, key, false)
	if err != nil {
		return 0, err
	}
	client := http.Client{Transport: &http.Transport{}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && !hasContent(lines.Bytes()) {
	}
	if !hasContent(lines.Bytes()) {
		return 0, fmt.Errorf("status %d, no text: %w", resp.StatusCode, errors.Join(lines.Err(), io.ErrUnexpectedEOF))
	}
	left := time.Now()
	resp.Body.Close()
	client.CloseIdleConnections()
	for {
		took, gone, err := isGone(left)
		if err != nil || gone || time.Since(left) > 5*time.Second {
			return max(took, 0), err
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// anyAlive tells whether any process that left its id in the folder runs.
func anyAlive(pids string) (bool, error) {
	entries, err := os.ReadDir(pids)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(strings.TrimSuffix(entry.Name(), filepath.Ext(entry.Name())))
		if err != nil {
			return false, err
		}
		if alive(pid) {
			return true, nil
		}
		if err := os.Remove(filepath.Join(pids, entry.Name())); err != nil {
			return false, err
		}
	}
	return false, nil
}

// steady: what the second 500 requests leave behind.
func (b *bench) steady() error {
	return b.pair(script{Mode: "stream", Count: 20, Size: 64}, func(both [2]*server) error {
		var grown [2]float64
		var opened [2]int
		for k, s := range both {
			var size [2]int64
			var files [2]int
			for half := range 2 {
				if _, err := b.load(job{URL: s.url, Key: key, Streams: 4, Rounds: 125}); err != nil {
					return fmt.Errorf("%s: %w", s.kind, err)
				}
				time.Sleep(2 * time.Second) // closed connections and processes are cleared away
				var err error
				if size[half], err = memory(s.cmd.Process.Pid, "VmRSS"); err != nil {
					return err
				}
				if files[half], err = descriptors(s.cmd.Process.Pid); err != nil {
					return err
				}
			}
			grown[k] = mega(size[1] - size[0])
			opened[k] = files[1] - files[0]
		}
		b.out.limit("second 500 requests, memory growth", "MB", grown[raw], grown[ours], 1)
		b.out.limit("second 500 requests, new descriptors", "", float64(opened[raw]), float64(opened[ours]), 0)
		return nil
	})
}
