package agentrpc

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

// What connect writes in pieces goes out whole, and an early end of our half is
// no proper one.
func TestEnvelopesGoOutWhole(t *testing.T) {
	for _, test := range []struct {
		name   string
		pieces []string
		more   bool // the second envelope follows at once
		want   []string
	}{
		{"head and payload", []string{"\x00\x00\x00\x00\x02", "ab"}, false, []string{"\x00\x00\x00\x00\x02ab"}},
		{"cut anywhere", []string{"\x00\x00", "\x00\x00\x03a", "b", "c"}, false, []string{"\x00\x00\x00\x00\x03abc"}},
		{"two, one by one", []string{"\x00\x00\x00\x00\x01", "a", "\x00\x00\x00\x00\x01", "b"}, false, []string{"\x00\x00\x00\x00\x01a", "\x00\x00\x00\x00\x01b"}},
		{"two at once", []string{"\x00\x00\x00\x00\x01", "a", "\x00\x00\x00\x00\x01", "b"}, true, []string{"\x00\x00\x00\x00\x01a\x00\x00\x00\x00\x01b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			down, up := io.Pipe()
			go func() {
				for _, piece := range test.pieces {
					_, _ = up.Write([]byte(piece))
				}
				up.Close()
			}()
			follows := test.more
			exchange := &tap{started: time.Now(), more: func() bool { defer func() { follows = false }(); return follows }}
			body := &takenBody{ReadCloser: down, tap: exchange}
			for _, want := range test.want {
				p := make([]byte, 64)
				if n, err := body.Read(p); err != nil || !bytes.Equal(p[:n], []byte(want)) {
					t.Fatalf("got %q, %v; want %q", p[:n], err, want)
				}
			}
			if _, err := body.Read(make([]byte, 64)); !errors.Is(err, errNotComplete) {
				t.Errorf("the early end is %v", err)
			}
		})
	}
}
