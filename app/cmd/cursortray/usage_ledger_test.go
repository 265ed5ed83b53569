package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cursortray/app/config"
	"cursortray/proxy/ledger"
)

func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("here", 2*3600)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, zone)
	for text, want := range map[string]string{
		"7d": "2026-11-23T12:00:00+02:00", "0d": "2026-11-30T12:00:00+02:00", "12h": "2026-11-30T00:00:00+02:00", "90m": "2026-11-30T10:30:00+02:00",
		"2026-11-01": "2026-11-01T00:00:00+02:00", "2026-11-01 13:05": "2026-11-01T13:05:00+02:00", "2026-11-01T13:05": "2026-11-01T13:05:00+02:00",
		"2026-11-01T13:05:00Z": "2026-11-01T13:05:00Z",
	} {
		if at, err := parseWhen(text, now, false); err != nil || at.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v", text, at.Format(time.RFC3339), err)
		}
	}
	if at, err := parseWhen("2026-11-01", now, true); err != nil || at.Day() != 2 {
		t.Errorf("the end of a day: %s, %v", at, err)
	}
	for _, text := range []string{"", "d", "-1d", "-5h", "yesterday", "2026-13-01", "99999d", "1.5d"} {
		if at, err := parseWhen(text, now, false); err == nil {
			t.Errorf("%q is %s", text, at)
		}
	}
}

func FuzzParseWhen(f *testing.F) {
	for _, text := range []string{"7d", "12h", "2026-11-01", "2026-11-01T00:00:00Z", "9999999d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := parseWhen(text, time.Now(), true); err == nil && at.IsZero() && !strings.HasPrefix(text, "0001") {
			t.Errorf("%q is no time", text)
		}
	})
}

// TestUsageByTheLedger: without an instance the file is read, and nothing is
// made where there is none.
func TestUsageByTheLedger(t *testing.T) {
	m := newMachine(t)
	if out := m.must("usage", "--by", "day"); !strings.HasPrefix(out, "no requests since ") {
		t.Errorf("without a ledger: %q", out)
	}
	dirs, err := config.Folders(func(name string) string {
		for _, pair := range m.env {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value
			}
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	book := ledger.Open(filepath.Join(dirs.State, "ledger.db"), ledger.Options{})
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.Local)
	book.Add(ledger.Entry{At: at, Editor: "codex", Model: "gpt-5.5", Outcome: ledger.OK, Input: 1500, Output: 20, CacheRead: 7, Cost: "1.005", Took: time.Second})
	book.Add(ledger.Entry{At: at.AddDate(0, 0, 1), Model: "gpt-5.5", Outcome: ledger.OK, Input: 5})
	book.Add(ledger.Entry{At: at.AddDate(0, 0, 2), Outcome: ledger.Cancelled})
	book.Close()
	for _, c := range []struct{ args, want string }{
		{"--by editor --since 2026-11-01", "" +
			"    editor  requests  not done  input  cache read  cache write  output        cost\n" +
			"     codex         1         0   1.5K           7            0      20       $1.01\n" +
			"  main key         2         1      5           0            0       0  over $0.00\n" +
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
	for _, args := range []string{"--by colour", "--since 7d", "--csv", "--by day --since soon"} {
		if r := m.run(append([]string{"usage"}, strings.Fields(args)...)...); r.code != exitUsage {
			t.Errorf("usage %s: exit code %d, %s", args, r.code, r.stderr)
		}
	}
}
