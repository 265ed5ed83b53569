package agentcli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzParser: any bytes give exactly one end, valid text, each call's start
// and end at most once, and no more text than came in.
func FuzzParser(f *testing.F) {
	files, err := filepath.Glob("testdata/cli/*.ndjson")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 10_000 {
			f.Add(b, "Error: usage limit\n", 1)
		}
	}
	f.Fuzz(func(t *testing.T, stdout []byte, stderr string, code int) {
		events := replay(t, bytes.NewReader(stdout), exit{code: code, stderr: []byte(stderr)})
		seen := make(map[string]bool)
		runes := 0
		for i, e := range events {
			if (e.kind == evDone || e.kind == evError) != (i == len(events)-1) {
				t.Fatalf("event %d of %d is of kind %d", i, len(events), e.kind)
			}
			switch e.kind {
			case evText, evThinking:
				if e.text == "" || !utf8.ValidString(e.text) {
					t.Fatalf("text %q", e.text)
				}
				runes += utf8.RuneCountInString(e.text)
			case evSession, evUsage, evToolStarted, evToolCompleted:
				key := string(rune('0'+e.kind)) + e.id
				if e.kind == evSession {
					key = "session"
				}
				if seen[key] {
					t.Fatalf("%q comes twice", key)
				}
				seen[key] = true
			case evError:
				if len(e.fail.reason) > maxReason || e.fail.status < 400 {
					t.Fatalf("failure %+v", e.fail)
				}
			}
		}
		if runes > len(stdout) {
			t.Fatalf("%d characters out of %d bytes", runes, len(stdout))
		}
	})
}
