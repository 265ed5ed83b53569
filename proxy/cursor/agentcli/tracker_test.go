package agentcli

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// TestMixedDeltaTracker runs the vectors that define the tracker: D and S are
// a delta and a snapshot of text, d and s of thinking, R is a reset.
func TestMixedDeltaTracker(t *testing.T) {
	f, err := os.Open("testdata/tracker.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	count := 0
	for lines.Scan() {
		var v struct {
			V    int
			In   [][]string
			Out  []string
			Note string
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		count++
		t.Run(v.Note, func(t *testing.T) {
			if len(v.In) != len(v.Out) {
				t.Fatal("a vector has one output per step")
			}
			var tracker MixedDeltaTracker
			for i, step := range v.In {
				if got := trackerStep(&tracker, step); got != v.Out[i] {
					t.Errorf("vector %d, step %d %q: got %q, want %q", v.V, i, step, got, v.Out[i])
				}
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if count != 38 {
		t.Errorf("ran %d vectors, want 38", count)
	}
}

func trackerStep(t *MixedDeltaTracker, step []string) string {
	switch step[0] {
	case "D", "S":
		return string(t.Text([]byte(step[1]), step[0] == "D"))
	case "d", "s":
		return string(t.Thinking([]byte(step[1]), step[0] == "d"))
	}
	t.Reset()
	return ""
}
