package agentcli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// answerSize is the text of one answer in BenchmarkStream.
const answerSize = 4 << 20

// BenchmarkStream compares the back-end with the least that any program around
// the same process must do: read lines, find the text, unescape it. One
// operation is an answer of 4 MiB.
func BenchmarkStream(b *testing.B) {
	for _, size := range []int{8, 1 << 10} {
		script := agentsim.Script{Mode: agentsim.Stream, Count: answerSize / size, Size: size}
		b.Run(fmt.Sprintf("raw/%d", size), func(b *testing.B) {
			b.SetBytes(answerSize)
			for b.Loop() {
				readRaw(b, script, answerSize)
			}
		})
		b.Run(fmt.Sprintf("backend/%d", size), func(b *testing.B) {
			r := benchBackendOf(b, script)
			b.SetBytes(answerSize)
			b.ReportAllocs()
			for b.Loop() {
				readBackend(b, r, answerSize)
			}
		})
	}
}

// BenchmarkFirstText is the time from a request to its only text, and from the
// start of the same process to its end.
func BenchmarkFirstText(b *testing.B) {
	script := agentsim.Script{Mode: agentsim.Stream, Count: 1}
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			readRaw(b, script, 8)
		}
	})
	b.Run("backend", func(b *testing.B) {
		r := benchBackendOf(b, script)
		for b.Loop() {
			readBackend(b, r, 8)
			b.StopTimer()
			for anyChild(r) {
				runtime.Gosched() // the process of this turn must not slow the next
			}
			b.StartTimer()
		}
	})
}

func readBackend(b *testing.B, r *Backend, want int) {
	got := 0
	for event, err := range r.Chat(b.Context(), hello()) {
		if err != nil {
			b.Fatal(err)
		}
		if delta, ok := event.(chat.TextDelta); ok {
			got += len(delta.Text)
		}
	}
	if got != want {
		b.Fatalf("%d bytes, want %d", got, want)
	}
}

func readRaw(b *testing.B, script agentsim.Script, want int) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, runArgs("auto", os.TempDir(), "", true)...)
	cmd.Env = append(os.Environ(), script.Environ())
	cmd.Stdin = strings.NewReader("USER:\nhello")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReaderSize(stdout, 64<<10)
	got := 0
	for {
		line, err := lines.ReadSlice('\n')
		if bytes.HasPrefix(line, []byte(`{"type":"assistant"`)) && got < want {
			got += len(passThrough(line))
		}
		if err == io.EOF {
			break
		}
	}
	if err := cmd.Wait(); err != nil || got != want {
		b.Fatalf("%d bytes, %v; want %d", got, err, want)
	}
}

func benchBackendOf(b *testing.B, script agentsim.Script) *Backend {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	r := New(Config{Binary: self, Environ: append(os.Environ(), script.Environ())})
	b.Cleanup(func() { r.Close() })
	if err := r.Check(b.Context()); err != nil {
		b.Fatal(err)
	}
	return r
}

func anyChild(r *Backend) bool {
	r.children.mu.Lock()
	defer r.children.mu.Unlock()
	return len(r.children.live) > 0
}
