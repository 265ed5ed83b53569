//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/ledger"
)

// TestUsageByTheLedger: without an instance the file is read, and nothing is
// made where there is none.
func TestUsageByTheLedger(t *testing.T) {
	m := newMachine(t)
	if out := m.must("usage", "--by", "day"); !strings.HasPrefix(out, "no requests since ") {
		t.Errorf("without a ledger: %q", out)
	}
	book := ledger.Open(filepath.Join(m.dirs().State, "ledger.db"), ledger.Options{})
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.Local)
	book.Add(ledger.Entry{At: at, Editor: "codex", Model: "gpt-5.5", Outcome: ledger.OK, Input: 1500, Output: 20, CacheRead: 7, Cost: "1.005", Took: time.Second})
	book.Add(ledger.Entry{At: at.AddDate(0, 0, 1), Model: "gpt-5.5", Outcome: ledger.OK, Input: 5})
	book.Add(ledger.Entry{At: at.AddDate(0, 0, 2), Outcome: ledger.Cancelled})
	book.Close()
	for _, c := range []struct{ args, want string }{
		{"--by editor --since 2026-11-01", "" +
			"    editor  requests  not done  input  cache read  cache write  output        cost\n" +
			"     codex         1         0   1.5K           7            0      20       $1.01\n" +
			"  main key         2         1      5           0            0       0   not known\n" +
			"     total         3         1   1.5K           7            0      20  over $1.01\n"},
		{"--by day --since 2026-11-01 --until 2026-11-01 --csv", "" +
			"day,requests,failed,cancelled,refused,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,reasoning_tokens,cost_usd,unpriced,seconds\n" +
			"2026-11-01,1,0,0,0,1500,7,0,20,0,1.005,0,1.000\n"},
	} {
		if out := m.must(append([]string{"usage"}, strings.Fields(c.args)...)...); out != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.args, out, c.want)
		}
	}
	if out := m.must("usage", "--by", "model", "--since", "2026-11-01", "--json"); !strings.Contains(out, `"cost_usd": "1.005"`) || !strings.Contains(out, `"total"`) {
		t.Errorf("%s", out)
	}
	for _, args := range []string{"--by colour", "--since 7d", "--csv", "--by day --since soon", "--by day --json --csv", "--by day --since 2026-11-02 --until 2026-11-01"} {
		if r := m.run(append([]string{"usage"}, strings.Fields(args)...)...); r.code != exitUsage {
			t.Errorf("usage %s: exit code %d, %s", args, r.code, r.stderr)
		}
	}
}
