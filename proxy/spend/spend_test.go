package spend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"cursortray/proxy/chat"
	"cursortray/proxy/money"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func usd(text string) money.Amount {
	amount, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return amount
}

// try asks for n runs and returns how many were let through, and the last
// refusal.
func try(t *testing.T, g *Guard, editor string, n int) (runs int, refusal *chat.Error) {
	t.Helper()
	for range n {
		if err := g.Admit(t.Context(), editor); err != nil {
			refusal = err
		} else {
			runs++
		}
	}
	return runs, refusal
}

// TestWhichLimit: the refusal names the limit, whose it is, the figure, when it
// is free again and how to go on.
func TestWhichLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    Config
		editor string
		spent  string // per run
		runs   int    // are let through, at one a minute
		code   string
		says   string
		wait   time.Duration
	}{
		{"runs an hour of all", Config{All: Limits{RunsHour: 5}}, "codex", "0", 5, "spend_limit_runs_hour",
			"your limit in cursortray of 5 runs an hour for all editors together is reached: 5 runs in the last hour. It is free again at 01:00. " +
				`To go on now, choose "Allow for an hour" in its menu or run: cursortray allow. To change it, see spend_runs_hour in: cursortray help settings`,
			55*time.Minute + 10*time.Second},
		{"runs a day of all", Config{All: Limits{RunsDay: 3}}, "", "0", 3, "spend_limit_runs_day",
			"3 runs a day for all editors together is reached: 3 runs in the last day. It is free again at Jan 2, 00:01. ", 24*time.Hour - 2*time.Minute},
		{"money an hour of all", Config{All: Limits{MoneyHour: usd("1")}}, "codex", "0.3", 4, "spend_limit_money_hour",
			"$1.00 an hour for all editors together is reached: $1.20 in the last hour. It is free again at 01:00. ", 56*time.Minute + 10*time.Second},
		{"money a day of an editor", Config{Editors: map[string]Limits{"codex": {MoneyDay: usd("0.05")}}}, "codex", "0.05", 1, "spend_limit_money_day",
			"$0.05 a day for codex is reached: $0.05 in the last day. It is free again at Jan 2, 00:01. ", 24 * time.Hour},
		{"the main key", Config{Editors: map[string]Limits{"": {RunsHour: 1}}}, "", "0", 1, "spend_limit_runs_hour",
			"1 run an hour for clients with the main key is reached", 59*time.Minute + 10*time.Second},
		{"each editor", Config{Each: Limits{RunsHour: 2}, Editors: map[string]Limits{"pi": {RunsHour: 9}}}, "codex", "0", 2, "spend_limit_runs_hour",
			"2 runs an hour for codex is reached: 2 runs in the last hour. It is free again at 01:00. ", 58*time.Minute + 10*time.Second},
		{"the one that lasts longest", Config{All: Limits{RunsHour: 2, RunsDay: 2}}, "codex", "0", 2, "spend_limit_runs_day",
			"2 runs a day for all editors together", 24*time.Hour - time.Minute},
		{"none", Config{}, "codex", "100", 50, "", "", 0},
		{"another's", Config{Editors: map[string]Limits{"pi": {RunsHour: 1}}}, "codex", "0", 50, "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				local := time.Local
				defer func() { time.Local = local }()
				time.Local = time.UTC
				g := New(c.cfg)
				runs := 0
				var refusal *chat.Error
				for refusal == nil && runs < 50 {
					if refusal = g.Admit(t.Context(), c.editor); refusal == nil {
						runs++
						g.Spent(c.editor, usd(c.spent))
						time.Sleep(time.Minute)
					}
				}
				if runs != c.runs || (refusal == nil) != (c.code == "") {
					t.Fatalf("%d runs, then %v", runs, refusal)
				}
				if refusal == nil {
					return
				}
				if refusal.Kind != chat.RateLimited || refusal.Code != c.code || refusal.RetryAfter != c.wait {
					t.Errorf("%v, code %s, again in %s", refusal, refusal.Code, refusal.RetryAfter)
				}
				if !strings.Contains(refusal.Message, c.says) {
					t.Errorf("it says %q", refusal.Message)
				}
				// It is free when it says so, and not before.
				time.Sleep(refusal.RetryAfter - time.Second)
				if g.Admit(t.Context(), c.editor) == nil {
					t.Error("it is free before that")
				}
				if s := g.State(); s.Reached == "" || time.Until(s.Until) > time.Minute {
					t.Errorf("the state is %+v", s)
				}
				time.Sleep(time.Second)
				if s := g.State(); s.Reached != "" || !s.Until.IsZero() {
					t.Errorf("the state afterwards is %+v", s)
				}
				if err := g.Admit(t.Context(), c.editor); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			})
		})
	}
}

// TestRefusedRunsDoNotCount: a client that goes on asking does not keep the
// door shut, and what others may do does not change.
func TestRefusedRunsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{All: Limits{RunsHour: 20}, Editors: map[string]Limits{"codex": {RunsHour: 10}}})
		if runs, _ := try(t, g, "codex", 1000); runs != 10 {
			t.Errorf("%d runs of codex", runs)
		}
		if runs, refusal := try(t, g, "pi", 1000); runs != 10 || !strings.Contains(refusal.Message, "all editors together") {
			t.Errorf("%d runs of pi, then %v", runs, refusal)
		}
		if s := g.State(); s.RunsHour != 20 || s.Reached != "20 runs an hour for all editors together" {
			t.Errorf("%+v", s)
		}
	})
}

// TestTheWindowSlides: at no time are there more runs in an hour than the limit.
func TestTheWindowSlides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{All: Limits{RunsHour: 30}})
		var let []time.Time
		for range 3 * 3600 {
			if g.Admit(t.Context(), "codex") == nil {
				let = append(let, time.Now())
			}
			time.Sleep(time.Second)
		}
		for i := range let {
			if i >= 30 && let[i].Sub(let[i-30]) < time.Hour {
				t.Fatalf("31 runs from %s to %s", let[i-30], let[i])
			}
		}
		if len(let) != 90 {
			t.Errorf("%d runs in three hours", len(let))
		}
	})
}

func TestAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{All: Limits{RunsHour: 1, MoneyDay: usd("1")}})
		g.Spent("codex", usd("5"))
		try(t, g, "codex", 1)
		g.Allow(time.Hour)
		if runs, refusal := try(t, g, "codex", 50); runs != 50 {
			t.Errorf("%d runs, then %v", runs, refusal)
		}
		if s := g.State(); s.Reached != "" || time.Until(s.AllowedUntil) != time.Hour || s.RunsHour != 50 || s.SpentDay != usd("5") {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Hour - time.Second)
		if runs, _ := try(t, g, "codex", 1); runs != 1 {
			t.Error("refused before the hour is over")
		}
		time.Sleep(time.Second)
		if runs, _ := try(t, g, "codex", 1); runs != 0 {
			t.Error("let through after the hour")
		}
		if s := g.State(); s.Reached == "" || !s.AllowedUntil.IsZero() {
			t.Errorf("%+v", s)
		}
		g.Allow(time.Hour)
		g.Allow(0)
		if runs, _ := try(t, g, "codex", 1); runs != 0 {
			t.Error("let through after it was taken back")
		}
	})
}

// TestARestartForgetsNothing: what the ledger holds counts from the first run
// on, once.
func TestARestartForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		asked := 0
		g := New(Config{
			All: Limits{RunsHour: 10}, Editors: map[string]Limits{"codex": {MoneyDay: usd("2")}, "pi": {RunsHour: 5}},
			Past: func(ctx context.Context, since time.Time) ([]Past, error) {
				asked++
				if now.Sub(since) != 24*time.Hour {
					t.Errorf("asked since %s", since)
				}
				return []Past{
					{now.Add(-20 * time.Hour), "codex", 100, usd("1.5")},
					{now.Add(-2 * time.Hour), "codex", 1, usd("0.5")},
					{now.Add(-30 * time.Minute), "pi", 4, money.Amount{}},
					{now.Add(time.Hour), "pi", 2, money.Amount{}}, // by a clock that was wrong
				}, nil
			},
		})
		if runs, refusal := try(t, g, "codex", 1); runs != 0 || refusal.RetryAfter != 4*time.Hour+time.Minute {
			t.Errorf("%d runs of codex, then %+v", runs, refusal)
		}
		if runs, _ := try(t, g, "pi", 9); runs != 0 {
			t.Errorf("%d runs of pi", runs)
		}
		if runs, _ := try(t, g, "other", 9); runs != 4 {
			t.Errorf("%d runs of another", runs)
		}
		if s := g.State(); s.RunsHour != 10 || s.SpentDay != usd("2") || asked != 1 {
			t.Errorf("%+v, asked %d times", s, asked)
		}
	})
}

// TestAPastThatCannotBeRead: limits count from now on, and somebody is told.
func TestAPastThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told error
		g := New(Config{
			All: Limits{RunsHour: 1}, Failed: func(err error) { told = err },
			Past: func(ctx context.Context, since time.Time) ([]Past, error) {
				<-ctx.Done() // a disk that hangs
				return nil, ctx.Err()
			},
		})
		begin := time.Now()
		if runs, _ := try(t, g, "codex", 2); runs != 1 || !errors.Is(told, context.DeadlineExceeded) || time.Since(begin) != pastTime {
			t.Errorf("%d runs after %s, told %v", runs, time.Since(begin), told)
		}
	})
}

// TestManyAtOnce: runs that begin together do not slip through together.
func TestManyAtOnce(t *testing.T) {
	g := New(Config{All: Limits{RunsHour: 100}})
	var tasks sync.WaitGroup
	var mu sync.Mutex
	runs := 0
	for i := range 50 {
		tasks.Go(func() {
			n, _ := try(t, g, fmt.Sprint(i%3), 10)
			g.Spent(fmt.Sprint(i%3), usd("0.01"))
			g.State()
			mu.Lock()
			defer mu.Unlock()
			runs += n
		})
	}
	tasks.Wait()
	if runs != 100 || g.State().SpentDay != usd("0.5") {
		t.Errorf("%d runs, %s", runs, g.State().SpentDay)
	}
}

func TestWindow(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0)
	w := window{span: time.Hour, step: 10 * time.Second}
	w.add(begin.Add(30*24*time.Hour), 3, usd("3")) // a clock that is a month ahead,
	w.add(begin, 1, usd("1"))                      // and is set right
	if w.runsAt(begin) != 4 || w.costAt(begin) != usd("4") {
		t.Errorf("%+v", w)
	}
	if at := begin.Add(time.Hour + 10*time.Second); w.runsAt(at) != 0 || !w.costAt(at).IsZero() || len(w.steps) != 0 {
		t.Errorf("an hour later: %+v", w)
	}
	huge := money.OfPico(1<<63 - 1)
	for range 5 {
		w.add(begin, 1, huge)
	}
	if w.costAt(begin).Pico() != maxCost {
		t.Errorf("the sum is %s", w.costAt(begin))
	}
	for i := range 100_000 {
		w.add(begin.Add(time.Duration(i)*time.Second), 1, money.Amount{})
	}
	if len(w.steps) > 361 || cap(w.steps) > 1000 {
		t.Errorf("it keeps %d steps", len(w.steps))
	}
}

func BenchmarkAdmit(b *testing.B) {
	g := New(Config{All: Limits{RunsHour: 1 << 40, MoneyDay: usd("1000000")}, Each: Limits{RunsDay: 1 << 40}})
	for b.Loop() {
		if err := g.Admit(b.Context(), "codex"); err != nil {
			b.Fatal(err)
		}
		g.Spent("codex", usd("0.000001"))
	}
}
