//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// simulated is a "cursortray serve" that is logged in to a simulated Cursor,
// whose runs a test scripts.
type simulated struct {
	*server
	sim *simserver.Sim
}

// simulate starts both, cursortray with some settings. Runs that the test gives
// no script are played by the scripted model.
func (s *suite) simulate(t *testing.T, settings ...string) *simulated {
	t.Helper()
	sim, err := simserver.Start(context.Background(), simserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range sim.Violations() {
			t.Errorf("a rule of the wire is broken: %v", v)
		}
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	sim.ChangeRunRules(func(rules *simserver.RunRules) { rules.Slack = time.Minute }) // the machine may be busy
	home, err := os.MkdirTemp("", "ct-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	env := append(append(sim.Env(), "CURSORTRAY_TOKEN_STORE=file"), settings...)
	login := exec.CommandContext(t.Context(), s.cursortray, "login", "--api-key", "-")
	login.Env, login.Stdin = append(serverEnv(home), env...), strings.NewReader(simserver.DefaultKey)
	if out, err := login.CombinedOutput(); err != nil {
		t.Fatalf("log in to the simulated Cursor: %v\n%s", err, out)
	}
	u := &simulated{server: serveIn(t, home, s.cursortray, env, "--backend", "agent"), sim: sim}
	u.models = [2]string{"composer-2.5", "auto"}
	return u
}

// answering plays script to the client's own question, and the scripted model
// to what clients ask beside it, such as for a title, with the small model.
func (u *simulated) answering(script ...simserver.Step) {
	demo, play := simserver.Demo(), simserver.Steps(script...)
	u.sim.ScriptAlways(func(r *simserver.Run) error {
		if id := r.Request().GetRequestedModel().GetModelId(); !strings.HasPrefix(id, u.models[0]) {
			return demo(r)
		}
		return play(r)
	})
}

// rests waits until no run is left.
func (u *simulated) rests(t *testing.T, limit time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := u.sim.AwaitRuns(ctx, func(stats simserver.RunStats) bool { return stats.Open == 0 }); err != nil {
		t.Errorf("%d runs are left %v after the client's end", u.sim.RunStats().Open, limit)
	}
}
