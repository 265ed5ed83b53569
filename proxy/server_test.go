package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// open starts a request and returns when its first bytes are there.
func (p *port) open(body string) (*http.Response, *bufio.Reader) {
	p.t.Helper()
	response := p.do(p.request("POST", "/v1/chat/completions", body, nil))
	p.t.Cleanup(func() { response.Body.Close() })
	reader := bufio.NewReader(response.Body)
	if _, err := reader.Peek(1); err != nil {
		p.t.Fatal(err)
	}
	return response, reader
}

// dial opens a bare connection.
func (p *port) dial() net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	return conn
}

// exchange sends a bare request over conn and reads the answer.
func exchange(t *testing.T, conn net.Conn, in *bufio.Reader, request string) (*http.Response, string) {
	t.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

const getModels = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: " + testKey + "\r\n\r\n"

func TestPL1_BindsAgainAtOnce(t *testing.T) {
	first := serve(t, hello(), nil)
	conn := first.dial() // a connection that the stop has to close
	if response, _ := exchange(t, conn, bufio.NewReader(conn), getModels); response.StatusCode != 200 {
		t.Fatalf("status %d", response.StatusCode)
	}
	first.close()
	second := serveOn(t, first.addr, hello(), nil, nil)
	if response, body := second.call("POST", "/v1/chat/completions", ask, nil); response.StatusCode != 200 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if _, err := net.Listen("tcp", second.addr); err == nil {
		t.Error("two listeners on one port")
	}
}

func TestServesOnce(t *testing.T) {
	p := serve(t, hello(), nil)
	p.close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := p.server.Serve(t.Context(), ln); err == nil {
		t.Error("a server served twice")
	}
}

func TestBrokenListenerIsAnError(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := New(Config{Backend: chattest.New()}).Serve(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve = %v", err)
	}
}

func TestStopLetsRunningAnswersFinish(t *testing.T) {
	gate := make(chan struct{})
	p := serve(t, chattest.Turn{chattest.Text("Hel"), chattest.Wait(gate), chattest.Text("lo"), chattest.Finish(chat.Stop)}, nil)
	kept, fresh := p.dial(), p.dial() // one that was used, one that never was
	in := bufio.NewReader(kept)
	exchange(t, kept, in, getModels)
	_, answer := p.open(askLive)

	p.stop()
	eventually(t, "the port is closed", func() bool {
		conn, err := net.Dial("tcp", p.addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	for _, conn := range []net.Conn{kept, fresh} {
		reader := in
		if conn == fresh {
			reader = bufio.NewReader(fresh)
		}
		response, body := exchange(t, conn, reader, getModels)
		if code := errorCode(t, response, body); response.StatusCode != 503 || code != "shutting_down" || response.Header.Get("Retry-After") != "1" || !response.Close {
			t.Errorf("a new request: %d %v %s", response.StatusCode, response.Header, body)
		}
	}
	close(gate)
	rest, err := io.ReadAll(answer)
	if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the running answer ended with %q, %v", rest, err)
	}
	p.close()
}

func TestIdleConnectionsDoNotDelayTheStop(t *testing.T) {
	p := serve(t, hello(), nil)
	kept := p.dial()
	exchange(t, kept, bufio.NewReader(kept), getModels)
	p.dial()
	start := time.Now()
	p.close()
	if took := time.Since(start); took > time.Second {
		t.Errorf("stopping took %v", took)
	}
}

func TestRS4_StopCancelsWhatIsLeftAfterGrace(t *testing.T) {
	p := serve(t, chattest.Turn{chattest.Text("Hel"), chattest.Silence()}, func(cfg *Config) { cfg.Grace = 50 * time.Millisecond })
	_, streamed := p.open(askLive)
	whole := make(chan string, 1)
	go func() {
		response, err := p.client.Do(p.request("POST", "/v1/chat/completions", ask, nil))
		if err != nil {
			whole <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		whole <- fmt.Sprint(response.StatusCode, " ", string(body))
	}()
	eventually(t, "both turns run", func() bool { return p.backend.Live() == 2 })
	p.close()
	if n := p.backend.Live(); n != 0 {
		t.Errorf("%d turns outlive Serve", n)
	}
	rest, err := io.ReadAll(streamed)
	if err != nil || strings.Contains(string(rest), "[DONE]") || !strings.Contains(string(rest), `"code":"shutting_down"`) {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
	if got := <-whole; !strings.HasPrefix(got, "503 ") || !strings.Contains(got, "shutting_down") {
		t.Errorf("the other answer is %s", got)
	}
}

func TestStopCutsAClientThatDoesNotRead(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	turn := chattest.Turn{}
	for range 64 {
		turn = append(turn, chattest.Text(huge))
	}
	p := serveOn(t, "127.0.0.1:0", append(turn, chattest.Finish(chat.Stop)),
		func(cfg *Config) { cfg.Grace = 10 * time.Millisecond }, func(s *Server) { s.forceAfter = 50 * time.Millisecond })
	p.open(askLive)
	start := time.Now()
	p.close()
	if took := time.Since(start); took > 3*time.Second || p.backend.Live() != 0 {
		t.Errorf("stopping took %v, %d turns live", took, p.backend.Live())
	}
}

// leave starts a request, and cancels it once its turn runs.
func (p *port) leave(body string) {
	p.t.Helper()
	ctx, leave := context.WithCancel(p.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		response, err := p.client.Do(p.request("POST", "/v1/chat/completions", body, nil).WithContext(ctx))
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	}()
	eventually(p.t, "the turn runs", func() bool { return p.backend.Live() == 1 })
	left := time.Now()
	leave()
	<-done
	eventually(p.t, "the turn has ended", func() bool { return p.backend.Live() == 0 })
	if took := time.Since(left); took > time.Second {
		p.t.Errorf("the turn ran on for %v", took)
	}
}

func TestRS4_ClientLeaves(t *testing.T) {
	talking := serve(t, chattest.Turn{chattest.Text("Hel"), chattest.Silence()}, nil)
	silent := serve(t, chattest.Turn{chattest.Silence()}, nil)
	goroutines := 0
	for round := range 10 {
		talking.leave(askLive)
		silent.leave(askLive)
		silent.leave(ask)
		eventually(t, "the log tells", func() bool { return strings.Count(silent.log.String(), "outcome=canceled") == 2*(round+1) })
		if round == 0 { // everything that stays has been started
			goroutines = runtime.NumGoroutine()
		}
	}
	eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
}

func TestLeavingAfterTheEndIsSuccess(t *testing.T) {
	p := serve(t, hello(), nil)
	response, answer := p.open(askLive)
	for line := ""; !strings.Contains(line, `"finish_reason":"stop"`); {
		var err error
		if line, err = answer.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	response.Body.Close()
	eventually(t, "the request is logged", func() bool { return strings.Contains(p.log.String(), "msg=request") })
	if got := p.log.String(); !strings.Contains(got, "outcome=ok") {
		t.Errorf("log: %s", got)
	}
}

func TestStreamsAtOnce(t *testing.T) {
	var mu sync.Mutex
	var seen []int
	p := serve(t, chattest.Turn{chattest.Text("x"), chattest.Silence()}, func(cfg *Config) {
		cfg.MaxStreams = 2
		cfg.Grace = time.Millisecond
		cfg.Activity = func(active int) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, active)
		}
	})
	first, _ := p.open(askLive)
	p.open(askLive)
	response, body := p.call("POST", "/v1/chat/completions", askLive, nil)
	if code := errorCode(t, response, body); response.StatusCode != 503 || code != "server_is_overloaded" || response.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", response.StatusCode, body)
	}
	if response, _ := p.call("GET", "/v1/models", "", nil); response.StatusCode != 200 {
		t.Errorf("the model list takes no slot, but: %d", response.StatusCode)
	}
	first.Body.Close()
	eventually(t, "a slot is free", func() bool { return p.backend.Live() == 1 })
	eventually(t, "it can be taken", func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		response := p.do(p.request("POST", "/v1/chat/completions", askLive, nil).WithContext(ctx))
		defer response.Body.Close()
		return response.StatusCode == 200
	})
	p.close()
	mu.Lock()
	defer mu.Unlock()
	if len(seen) < 6 || seen[0] != 1 || seen[1] != 2 || seen[len(seen)-1] != 0 {
		t.Errorf("activity: %v", seen)
	}
}

func TestBodyLimit(t *testing.T) {
	p := serveOn(t, "127.0.0.1:0", hello(), nil, func(s *Server) { s.maxBody = int64(len(ask)) + 10 })
	fits := ask + strings.Repeat(" ", 10)
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	for _, set := range []func(*http.Request){nil, chunked} {
		if response, body := p.call("POST", "/v1/chat/completions", fits, set); response.StatusCode != 200 {
			t.Errorf("a body at the limit: %d %s", response.StatusCode, body)
		}
		response, body := p.call("POST", "/v1/chat/completions", fits+" ", set)
		if code := errorCode(t, response, body); response.StatusCode != 413 || code != "request_too_large" {
			t.Errorf("a body above the limit: %d %s", response.StatusCode, body)
		}
	}
}

func TestSlowBody(t *testing.T) {
	p := serveOn(t, "127.0.0.1:0", chattest.Turn{chattest.Text("a"), chattest.Do(func() { <-time.After(150 * time.Millisecond) }), chattest.Finish(chat.Stop)},
		nil, func(s *Server) { s.bodyTimeout = 100 * time.Millisecond })
	conn := p.dial()
	response, body := exchange(t, conn, bufio.NewReader(conn),
		"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: "+testKey+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	if code := errorCode(t, response, body); response.StatusCode != 408 || code != "request_timeout" || !response.Close {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	// The time is for the body alone: an answer may take longer.
	if response, body := p.call("POST", "/v1/chat/completions", askLive, nil); response.StatusCode != 200 || !strings.Contains(body, "[DONE]") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestHeaderLimit(t *testing.T) {
	p := serve(t, hello(), nil)
	for size, status := range map[int]int{60 << 10: 200, 80 << 10: 431} {
		response, _ := p.call("GET", "/v1/models", "", with("X-Codex-Turn-State", strings.Repeat("x", size)))
		if response.StatusCode != status {
			t.Errorf("%d bytes of headers: %d, want %d", size, response.StatusCode, status)
		}
	}
}

func TestStreamHeaders(t *testing.T) {
	p := serve(t, hello(), nil)
	response, body := p.call("POST", "/v1/chat/completions", askLive, with("Accept-Encoding", "gzip, br"))
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
		"Content-Length": "", "Content-Encoding": "", "X-Content-Type-Options": "nosniff",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if response.StatusCode != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestST9_TokensArriveOneByOne(t *testing.T) {
	gate := make(chan struct{})
	p := serve(t, chattest.Turn{
		chattest.Text("one"), chattest.Wait(gate), chattest.Text("two"), chattest.Wait(gate), chattest.Text("three"), chattest.Finish(chat.Stop),
	}, nil)
	_, answer := p.open(askLive)
	for _, want := range []string{"one", "two"} { // each is here while the model is silent
		for line := ""; !strings.Contains(line, want); {
			var err error
			if line, err = answer.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		gate <- struct{}{}
	}
	if rest, err := io.ReadAll(answer); err != nil || !strings.Contains(string(rest), "three") {
		t.Errorf("%q, %v", rest, err)
	}
}
