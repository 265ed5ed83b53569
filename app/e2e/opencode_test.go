//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// task is work of several steps on two files of a project: both are read at
// once, one is changed, a command shows that it was, and the answer tells what
// the command printed.
type task struct {
	home, first, second, ran string
	prompt, command          string
}

func newTask(t *testing.T) task {
	home, first := project(t)
	w := task{home: home, first: first, second: filepath.Join(home, "proj", "b.txt"), ran: filepath.Join(home, "proj", "ran.txt")}
	writeFile(t, w.second, mark+" of the second file\n")
	w.command = fmt.Sprintf("tail -n 1 %s | tee %s", w.first, w.ran)
	w.prompt = fmt.Sprintf("Read the files %s and %s at once, replace `second line` with `third line %s` in %s, run the command `%s`, then tell me what it printed",
		w.first, w.second, mark, w.first, w.command)
	return w
}

// check looks at what the task left on the disk: only the client's own tools
// could do that.
func (w task) check(t *testing.T) {
	t.Helper()
	for name, want := range map[string]string{
		w.first: mark + " first line here\nthird line " + mark + "\n",
		w.ran:   "third line " + mark + "\n",
	} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v; want %q", filepath.Base(name), text, err, want)
		}
	}
}

// requests checks how many results of calls each request brought. With none
// twice, the client liked every answer.
func (w task) requests(t *testing.T, between *recorder, want ...int) {
	t.Helper()
	var results []int
	for _, r := range between.requests() {
		if r.tools > 0 {
			results = append(results, r.results)
		}
	}
	if fmt.Sprint(results) != fmt.Sprint(want) {
		t.Errorf("the requests brought %d results, want %d", results, want)
	}
}

// TestOpenCodeDoesATask: OpenCode reads, edits and runs what the model tells it,
// against the demo and against a simulated Cursor.
func TestOpenCodeDoesATask(t *testing.T) {
	cursortray, _ := buildPrograms(t)
	s := &suite{cursortray: cursortray, installs: map[string]string{"opencode": installNPM(t, "opencode")}}
	openCode := named(t, "opencode")
	do := func(t *testing.T, srv *server, w task, results ...int) {
		t.Helper()
		between := record(t, srv.url)
		got := s.ask(t, openCode, w.home, srv.through(between), w.prompt).run(t)
		openCode.check(t, got, between, "third line "+mark)
		w.check(t)
		w.requests(t, between, results...)
	}
	t.Run("demo", func(t *testing.T) {
		demo := serve(t, cursortray, nil, "--demo")
		demo.models = [2]string{"demo-large", "demo-small"}
		do(t, demo, newTask(t), 0, 2, 3, 4)
	})
	t.Run("the scripted model over one held run", func(t *testing.T) {
		u := s.simulate(t)
		do(t, u.server, newTask(t), 0, 2, 3, 4)
		u.oneRun(t, "read", "read", "edit", "bash")
	})
	t.Run("scripted parallel calls over one held run", func(t *testing.T) {
		u, w := s.simulate(t), newTask(t)
		u.answering(
			simserver.Thinking("Both files first."),
			simserver.Calls(call("read", object{"filePath": w.first}), call("read", object{"filePath": w.second})),
			simserver.Text("Now the change."),
			simserver.Calls(call("edit", object{"filePath": w.first, "oldString": "second line", "newString": "third line " + mark})),
			simserver.Calls(call("bash", object{"command": w.command, "description": "Show the last line"})),
			simserver.Tell(func(r *simserver.Run) string { return "It printed: " + r.Last().Text() }),
		)
		do(t, u.server, w, 0, 2, 3, 4)
		u.oneRun(t, "read", "read", "edit", "bash")
	})
	t.Run("native work over one held run", func(t *testing.T) {
		u, w := s.simulate(t), newTask(t)
		u.answering(
			simserver.Opening(), simserver.ReadFile(w.first), simserver.ReadFile(w.second),
			simserver.Calls(call("edit", object{"filePath": w.first, "oldString": "second line", "newString": "third line " + mark})),
			simserver.Shell(w.command),
			simserver.Tell(func(r *simserver.Run) string { return "It printed: " + r.Last().Text() }),
		)
		do(t, u.server, w, 0, 1, 2, 3, 4)
		u.oneRun(t, "edit")
	})
}

func call(name string, arguments object) simserver.ToolCall {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return simserver.ToolCall{Name: name, Arguments: string(text)}
}

// oneRun checks that all calls of a task were made in one run, which went well.
func (u *simulated) oneRun(t *testing.T, tools ...string) {
	t.Helper()
	u.rests(t, 10*time.Second)
	var called []string
	runs := 0
	for _, run := range u.sim.Runs() {
		if !strings.HasPrefix(run.Model, u.models[0]) {
			continue // the title
		}
		runs++
		if run.Outcome != simserver.OutcomeEnded {
			t.Errorf("the run ended as %q", run.Outcome)
		}
		for _, e := range run.Execs {
			if name := e.Request.GetMcpArgs().GetToolName(); name != "" {
				called = append(called, name)
			}
		}
	}
	if runs != 1 || fmt.Sprint(called) != fmt.Sprint(tools) {
		t.Errorf("%d runs called %q, want one that called %q", runs, called, tools)
	}
}
