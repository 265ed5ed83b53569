//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/app"
	"cursortray/proxy/cursor/cursorsim/simserver"
	"cursortray/proxy/ledger"
)

// Eight streams of 200 tokens per second.
const (
	benchStreams = 8
	benchPause   = 5 * time.Millisecond
	benchDeltas  = 200
	benchRate    = 10_000 // entries per second
)

// BenchmarkStreamBesideTheLedger is how late the deltas of streams are, from
// the simulated Cursor through the whole program to the client, while nothing
// and while 10,000 entries a second are written into the program's ledger, by
// turns, because what else the machine does changes both.
func BenchmarkStreamBesideTheLedger(b *testing.B) {
	i, url := demoInstance(b)
	i.demo.ScriptAlways(
		simserver.Opening(),
		simserver.Stream(simserver.Deltas{Count: benchDeltas, Size: 24, Every: benchPause, Stamp: true}),
		simserver.Saved(1000, 200_000),
	)
	streamsOnce(b, url) // connections, pools
	var quiet, beside []time.Duration
	var added int
	var took time.Duration
	for b.Loop() {
		quiet = append(quiet, streamsOnce(b, url)...)
		ctx, stop := context.WithCancel(b.Context())
		begin := time.Now()
		var adding sync.WaitGroup
		adding.Go(func() { added += addEntries(ctx, i.ledger, benchRate) })
		beside = append(beside, streamsOnce(b, url)...)
		took += time.Since(begin)
		stop()
		adding.Wait()
	}
	if n := i.ledger.Dropped(); n > 0 {
		b.Errorf("%d entries were dropped", n)
	}
	for name, late := range map[string][]time.Duration{"alone": quiet, "beside": beside} {
		slices.Sort(late)
		b.ReportMetric(float64(late[len(late)/2].Microseconds()), "us-p50-"+name)
		b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "us-p99-"+name)
	}
	b.ReportMetric(float64(added)/took.Seconds(), "entries/s")
	b.ReportMetric(0, "ns/op") // that is the pace
}

func streamsOnce(b *testing.B, url string) (late []time.Duration) {
	var mu sync.Mutex
	var streams sync.WaitGroup
	for range benchStreams {
		streams.Go(func() {
			delays := streamOnce(b, url)
			mu.Lock()
			defer mu.Unlock()
			late = append(late, delays...)
		})
	}
	streams.Wait()
	return late
}

// addEntries adds at a rate until ctx ends, and returns how many.
func addEntries(ctx context.Context, book *ledger.Ledger, rate int) (n int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); ; {
		select {
		case <-ctx.Done():
			return n
		case <-tick.C:
		}
		for due := int(time.Since(begin).Seconds() * float64(rate)); n < due; n++ {
			book.Add(ledger.Entry{
				At: time.Now(), Editor: "codex", Model: "demo-large", Dialect: "chat", Backend: "demo", Outcome: ledger.OK,
				Input: int64(n), Output: 200, CacheRead: 8000, Cost: "0.0123", Context: 8200, Window: 200_000, Took: time.Second,
			})
		}
	}
}

// demoInstance runs the whole program in this process, as a demo.
func demoInstance(b *testing.B) (i *instance, url string) {
	home := b.TempDir()
	env := func(name string) string {
		switch name {
		case "HOME", "USERPROFILE":
			return home
		case "CURSORTRAY_API_KEY":
			return testKey
		case "CURSORTRAY_ADDR":
			return "127.0.0.1:0"
		case "CURSORTRAY_SPEND_RUNS_HOUR":
			return "0"
		case "XDG_RUNTIME_DIR":
			return filepath.Join(home, "run")
		}
		return ""
	}
	p := &process{env: env, stdout: io.Discard, stderr: newRedactor(io.Discard, env)}
	s, err := p.load()
	if err != nil {
		b.Fatal(err)
	}
	if i, err = p.newInstance(s, true, true); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	go func() { ended <- i.app.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := i.close(); err != nil {
			b.Error(err)
		}
	})
	for shown := range i.app.Watch(ctx) {
		if shown.Proxy.State == app.Running {
			url = shown.Proxy.BaseURL
			break
		}
	}
	return i, url
}

// streamOnce reads one stream and returns how late each delta was.
func streamOnce(b *testing.B, url string) (late []time.Duration) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/chat/completions", strings.NewReader(question("demo-large", "go on", true)))
	if err != nil {
		b.Error(err)
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: {")
		if !ok {
			continue
		}
		now := time.Now()
		var chunk struct {
			Choices []struct {
				Delta struct{ Content string }
			}
		}
		if err := json.Unmarshal([]byte("{"+data), &chunk); err != nil || len(chunk.Choices) == 0 {
			continue
		}
		if at, ok := simserver.StampOf(chunk.Choices[0].Delta.Content); ok {
			late = append(late, now.Sub(at))
		}
	}
	if len(late) != benchDeltas {
		b.Errorf("status %d, %d deltas: %v", resp.StatusCode, len(late), lines.Err())
	}
	return late
}
