package agentsim

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cursortray/proxy/cursor/cursorsim"
)

// model lets the scripted model answer the prompt. It calls the client's tools
// the way the prompt asks for: as blocks in its text.
func (p *program) model(opts options, prompt string) error {
	e := newEmitter(p.stdout, opts)
	context, err := p.chatContext(e.session, opts, prompt)
	if err != nil {
		return err
	}
	e.open(opts, displayName(or(opts.model, "auto")), prompt)
	e.paced = true
	ticks := newPacer(p.script.Interval)
	output := 0
	for _, step := range cursorsim.Play(readPrompt(context).turn()) {
		switch s := step.(type) {
		case cursorsim.Think:
			output += pieces(s.Text, func(text string) { ticks.wait(); e.thinkingDelta(text) })
			e.thinkingDone()
		case cursorsim.Say:
			output += pieces(s.Text, func(text string) { ticks.wait(); e.textDelta(text) })
		case cursorsim.Call:
			output += crumbs(callBlock(s.Name, s.Arguments), func(text string) { ticks.wait(); e.textDelta(text) })
		}
	}
	return e.close(&usage{Input: tokens(len(prompt)), Output: output, CacheRead: (len(context) - len(prompt)) / 4})
}

// callBlock is a call in the text protocol.
func callBlock(name string, args json.RawMessage) string {
	return "<tool_call>" + string(encode(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}{name, args})) + "</tool_call>"
}

// pieces cuts a text behind its spaces and returns how many pieces there were.
func pieces(text string, put func(string)) int {
	list := strings.SplitAfter(text, " ")
	for _, piece := range list {
		if piece != "" {
			put(piece)
		}
	}
	return len(list)
}

// crumbs cuts a text every few characters, for tokens end anywhere in a call.
func crumbs(text string, put func(string)) int {
	const size = 5
	n := 0
	for runes := []rune(text); len(runes) > 0; n++ {
		k := min(size, len(runes))
		put(string(runes[:k]))
		runes = runes[k:]
	}
	return n
}

// chatContext returns all that the model has been told in this chat and keeps it
// for the next run. Like the real program's, a chat belongs to a workspace path.
func (p *program) chatContext(session string, opts options, prompt string) (string, error) {
	if p.script.Chats == "" {
		return prompt, nil
	}
	sum := md5.Sum([]byte(opts.workspace))
	name := filepath.Join(p.script.Chats, hex.EncodeToString(sum[:])+"-"+session)
	if opts.resume != "" {
		before, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("chat %s not found", session)
		}
		if err != nil {
			return "", err
		}
		prompt = string(before) + "\n\n" + prompt
	}
	return prompt, os.WriteFile(name, []byte(prompt), 0o600)
}
