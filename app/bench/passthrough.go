package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// servePassthrough is the yardstick: the least that a server can do which
// starts the same cursor-agent for each request and hands its text on. It
// knows nothing of snapshots, tools, failures, limits or settings.
func servePassthrough(agent, key string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := passthrough{agent: agent, key: "Bearer " + key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", p.models)
	mux.HandleFunc("POST /v1/chat/completions", p.chat)
	fmt.Println("listening on http://" + ln.Addr().String())
	return http.Serve(ln, mux)
}

type passthrough struct{ agent, key string }

func (p passthrough) models(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != p.key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	text, err := exec.CommandContext(r.Context(), p.agent, "models").Output()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list"}
	for line := range strings.Lines(string(text)) {
		if id, _, ok := strings.Cut(line, " - "); ok {
			list.Data = append(list.Data, model{id, "model"})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // the client may have left
}

// question reads what a yardstick is asked. It answers a request that has no
// key or no message itself; then ok is false.
func question(w http.ResponseWriter, r *http.Request, key string) (model, text string, ok bool) {
	if r.Header.Get("Authorization") != key {
		w.WriteHeader(http.StatusUnauthorized)
		return "", "", false
	}
	var req struct {
		Model    string
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return "", "", false
	}
	return req.Model, req.Messages[len(req.Messages)-1].Content, true
}

func (p passthrough) chat(w http.ResponseWriter, r *http.Request) {
	model, text, ok := question(w, r, p.key)
	if !ok {
		return
	}
	cmd := exec.CommandContext(r.Context(), p.agent, "--print", "--output-format", "stream-json",
		"--stream-partial-output", "--trust", "--model", model)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	p.copy(w, out, model)
	_ = cmd.Process.Kill() // it has nothing more to say
	_ = cmd.Wait()
}

var (
	deltaMark = []byte(`{"type":"assistant"`)
	stampMark = []byte(`"timestamp_ms":`)
	textMark  = []byte(`"text":"`)
	endMark   = []byte(`{"type":"result"`)
)

// copy turns the lines of the CLI into chunks until the result comes, and
// flushes whenever no whole line is waiting.
func (p passthrough) copy(w http.ResponseWriter, out io.Reader, model string) {
	head := []byte(`data: {"id":"chatcmpl-raw","object":"chat.completion.chunk","created":1700000000,"model":"` + model +
		`","choices":[{"index":0,"delta":{"content":"`)
	tail := []byte(`"},"finish_reason":null}]}` + "\n\n")
	flusher, _ := w.(http.Flusher)
	lines := bufio.NewReaderSize(out, 64<<10)
	var chunks, text []byte
	for {
		line, err := lines.ReadSlice('\n')
		ends := bytes.HasPrefix(line, endMark)
		switch {
		case err == bufio.ErrBufferFull: // repeats the whole text: skip it
			for err == bufio.ErrBufferFull {
				_, err = lines.ReadSlice('\n')
			}
		case bytes.HasPrefix(line, deltaMark) && bytes.Contains(line, stampMark):
			text = unquote(text[:0], line)
			chunks = append(chunks, head...)
			chunks = appendEscaped(chunks, text)
			chunks = append(chunks, tail...)
		}
		if ends {
			chunks = append(chunks, "data: [DONE]\n\n"...)
			err = io.EOF
		}
		waiting, _ := lines.Peek(lines.Buffered())
		if err == nil && bytes.IndexByte(waiting, '\n') >= 0 && len(chunks) < 64<<10 {
			continue
		}
		if len(chunks) > 0 {
			if _, err := w.Write(chunks); err != nil {
				return
			}
			flusher.Flush()
			chunks = chunks[:0]
		}
		if err != nil {
			return
		}
	}
}

// unquote appends the JSON string behind the first "text" key of line.
func unquote(to, line []byte) []byte {
	at := bytes.Index(line, textMark)
	if at < 0 {
		return to
	}
	at += len(textMark)
	end := bytes.IndexByte(line[at:], '"')
	if end >= 0 && bytes.IndexByte(line[at:at+end], '\\') < 0 {
		return append(to, line[at:at+end]...)
	}
	var text string
	if err := json.NewDecoder(bytes.NewReader(line[at-1:])).Decode(&text); err != nil {
		fmt.Fprintln(os.Stderr, "passthrough:", err)
	}
	return append(to, text...)
}

// appendEscaped appends text as the inside of a JSON string.
func appendEscaped(to, text []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			to = append(to, '\\', c)
		case c < ' ':
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			to = append(to, c)
		}
	}
	return to
}
