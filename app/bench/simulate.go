package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// play is what every run of the simulated Cursor does: after its question
// about the client it sends deltas, or one delta and a call of a tool, which
// has no end.
type play struct {
	simserver.Deltas
	Call bool
	Blob int // bytes of what it gives the client to keep, before a call
}

func (p play) steps() []simserver.Step {
	if !p.Call {
		return []simserver.Step{simserver.Opening(), tellEnd(simserver.Stream(p.Deltas)), simserver.Saved(1000, 200_000)}
	}
	steps := []simserver.Step{simserver.Opening()}
	if p.Blob > 0 {
		steps = append(steps, func(r *simserver.Run) error {
			data := make([]byte, p.Blob)
			copy(data, r.Conversation()) // one of its own
			return simserver.SetBlob(data)(r)
		})
	}
	return append(steps, simserver.Text("I look."), simserver.Call(toolName, `{"path":"/a"}`))
}

// tellEnd prints when the client gave a run up.
func tellEnd(step simserver.Step) simserver.Step {
	return func(r *simserver.Run) error {
		err := step(r)
		if r.Context().Err() != nil {
			fmt.Println(time.Now().UnixNano())
		}
		return err
	}
}

// place is where a simulated Cursor is, as its process tells it.
type place struct {
	Env     []string
	Control string
	Origin  string // of runs
	Token   string
}

// serveCursor is the body of the process with the simulated Cursor.
func serveCursor(text string) (err error) {
	var p play
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sim, err := simserver.Start(ctx, simserver.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.Close()) }()
	sim.ChangeRunRules(func(r *simserver.RunRules) { r.MaxOpen = 1000 })
	sim.ScriptAlways(p.steps()...)
	tokens, err := sim.NewLogin(simserver.DefaultUser, time.Hour)
	if err != nil {
		return err
	}
	at := place{Env: sim.Env(), Control: sim.ControlURL(), Origin: sim.Settings().AgentnURL, Token: tokens.Access}
	if err := json.NewEncoder(os.Stdout).Encode(at); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// simulated is the process with the simulated Cursor.
type simulated struct {
	place
	cmd   *exec.Cmd
	lines *bufio.Scanner // the place, then the times of ends
}

func (b *bench) simulate(p play) (*simulated, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	s := &simulated{cmd: exec.Command(b.self, "cursor", string(text))}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.lines = bufio.NewScanner(out)
	if !s.lines.Scan() {
		s.stop()
		return nil, fmt.Errorf("the simulated Cursor did not start: %w", s.lines.Err())
	}
	if err := json.Unmarshal(s.lines.Bytes(), &s.place); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// stop ends the process and waits for it.
func (s *simulated) stop() { (&server{cmd: s.cmd}).stop() }

// serveAgent starts a server before the simulated Cursor.
func (b *bench) serveAgent(k kind, s *simulated) (*server, error) {
	home, err := os.MkdirTemp(b.dir, "home")
	if err != nil {
		return nil, err
	}
	env := append(ownEnv(home), s.Env...)
	env = append(env, "CURSORTRAY_TOKEN_STORE=file", fmt.Sprintf("CURSORTRAY_AGENT_MAX_RUNS=%d", maxHeld))
	var cmd *exec.Cmd
	if k == raw {
		text, err := json.Marshal(s.place)
		if err != nil {
			return nil, err
		}
		cmd = exec.Command(b.self, "bare", string(text))
	} else {
		login := exec.Command(b.cursortray, "login", "--api-key", "-")
		login.Env, login.Stdin = env, strings.NewReader(simserver.DefaultKey)
		if out, err := login.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cursortray login: %w: %s", err, out)
		}
		cmd = exec.Command(b.cursortray, "serve", "--backend", "agent")
	}
	cmd.Env = env
	return start(k, cmd)
}

// agentPair is pair for the agent back-end.
func (b *bench) agentPair(p play, f func(s *simulated, both [2]*server) error) error {
	s, err := b.simulate(p)
	if err != nil {
		return err
	}
	defer s.stop()
	return b.both(func(k kind) (*server, error) { return b.serveAgent(k, s) },
		func(both [2]*server) error { return f(s, both) })
}
