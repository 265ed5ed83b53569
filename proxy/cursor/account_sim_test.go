package cursor_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// shelf is a Store in memory.
type shelf struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (s *shelf) Get(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.values[name]; ok {
		return v, nil
	}
	return nil, fs.ErrNotExist
}

func (s *shelf) Set(_ context.Context, name string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[name] = value
	return nil
}

func (s *shelf) Delete(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, name)
	return nil
}

// network reaches the simulation the way that people behind a company proxy
// reach Cursor.
func network(t *testing.T, sim *simserver.Sim) *http.Client {
	t.Helper()
	proxy, err := url.Parse(sim.ProxyURL())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(sim.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	transport := &http.Transport{
		Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// program is what a start of the program makes of an account.
func program(t *testing.T, sim *simserver.Sim, store cursor.Store, dir string, changes ...func(*cursor.AccountConfig)) *cursor.Account {
	t.Helper()
	identity, err := cursor.NewIdentity(t.Context(), cursor.IdentityConfig{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("../../assets/prices.json")
	if err != nil {
		t.Fatal(err)
	}
	prices, err := cursor.ParsePrices(table)
	if err != nil {
		t.Fatal(err)
	}
	cfg := cursor.AccountConfig{
		Config:   cursor.Config{Client: network(t, sim), Store: store},
		Identity: identity, CacheDir: dir, Catalog: cursor.CatalogConfig{Prices: prices},
	}
	for _, change := range changes {
		change(&cfg)
	}
	a, err := cursor.NewAccount(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func simulation(t *testing.T) *simserver.Sim {
	t.Helper()
	sim, err := simserver.Start(context.Background(), simserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
		if v := sim.Violations(); len(v) > 0 {
			t.Errorf("calls that Cursor's own clients do not make: %v", v)
		}
	})
	return sim
}

// TestAccountLife: log in, see who and what, start again without a network,
// log out, and nothing is left.
func TestAccountLife(t *testing.T) {
	sim := simulation(t)
	store, dir := &shelf{values: map[string][]byte{}}, t.TempDir()
	ctx := t.Context()
	a := program(t, sim, store, dir)
	attempt := a.StartLogin()
	if err := sim.Confirm(ctx, attempt.URL); err != nil {
		t.Fatal(err)
	}
	if err := attempt.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Identify(ctx); err != nil {
		t.Fatal(err)
	}
	plan, err := a.Plan(ctx, 0)
	if err != nil || plan.State != cursor.PlanOK || plan.OtherModels.String() != "28.6%" {
		t.Errorf("plan %+v, %v", plan, err)
	}
	catalog, err := a.Catalog(ctx)
	if err != nil {
		t.Fatal(err)
	}
	priced := 0
	for _, m := range catalog.Models() {
		if m.Price != nil {
			priced++
		}
	}
	if priced == 0 {
		t.Error("no model has a price")
	}
	if st := a.State(ctx); !st.SignedIn || !strings.Contains(st.Email, "@") || st.Plan != "Pro" || st.Problem != nil {
		t.Errorf("state %+v", st)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	if err := sim.Inject(simserver.Fault{Kind: simserver.FaultStatus, Status: 503}); err != nil {
		t.Fatal(err)
	}
	a = program(t, sim, store, dir)
	if st := a.State(ctx); !st.SignedIn {
		t.Errorf("after a start: %+v", st)
	}
	if again, err := a.Catalog(ctx); err != nil || len(again.Models()) != len(catalog.Models()) {
		t.Errorf("after a start without a network: %v", err)
	}
	if err := a.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files after the logout: %v, %v", files, err)
	}
	if len(store.values) > 0 {
		t.Error("something is left in the store")
	}
	if _, err := a.Catalog(ctx); err == nil {
		t.Error("models of an account that is logged out")
	}
}

// TestLoginAsSomebodyElse: without a logout in between nothing of the first
// account stays, whoever logged the second one in.
func TestLoginAsSomebodyElse(t *testing.T) {
	const user, key = "auth0|user_02EXAMPLE", "crsr_bobs0key"
	for name, logIn := range map[string]func(t *testing.T, a, other *cursor.Account, key string){
		"here": func(t *testing.T, a, _ *cursor.Account, key string) {
			if err := a.LoginWithKey(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		},
		"by another process": func(t *testing.T, a, other *cursor.Account, key string) {
			if err := other.LoginWithKey(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			a.Reload()
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := simulation(t)
			if err := errors.Join(sim.AddAccount(simserver.Account{User: user, Email: "bob@example.com", Plan: "ultra"}), sim.AddKey(key, user)); err != nil {
				t.Fatal(err)
			}
			store, dir, ctx := &shelf{values: map[string][]byte{}}, t.TempDir(), t.Context()
			ended := make(chan struct{}, 10)
			a := program(t, sim, store, dir, func(cfg *cursor.AccountConfig) { cfg.OnLogout = func() { ended <- struct{}{} } })
			other := program(t, sim, store, dir)
			look := func(who, plan string) {
				t.Helper()
				if err := a.Identify(ctx); err != nil {
					t.Fatal(err)
				}
				figures, err := a.Plan(ctx, time.Hour)
				if err != nil || figures.Name != plan {
					t.Errorf("plan %q, %v", figures.Name, err)
				}
				if _, err := a.Catalog(ctx); err != nil {
					t.Fatal(err)
				}
				if st := a.State(ctx); st.Email != who || st.Plan != plan {
					t.Errorf("state %+v", st)
				}
				// Lists are stored behind the answers.
				for deadline := time.Now().Add(10 * time.Second); ; {
					files, err := os.ReadDir(dir)
					if err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatal(err)
					}
					if len(files) == 1 && filepath.Ext(files[0].Name()) == ".json" {
						return
					}
					if time.Now().After(deadline) {
						t.Fatalf("the stored lists of models are %v", files)
					}
				}
			}
			for range 2 { // the second login is of the same person
				logIn(t, a, other, simserver.DefaultKey)
				look("ada@example.com", "Pro")
			}
			if n := len(ended); n != 0 {
				t.Errorf("%d times the end of a login", n)
			}
			logIn(t, a, other, key)
			look("bob@example.com", "Ultra")
			if n := len(ended); n != 1 {
				t.Errorf("%d times the end of a login, want one", n)
			}
		})
	}
}

// TestPlansOfEveryKind shows the lines for each kind of plan.
func TestPlansOfEveryKind(t *testing.T) {
	want := map[string]string{
		"free":           "Cursor Free · resets 1 Nov | Cursor models 6% | On-demand off",
		"pro":            "Cursor Pro · resets 9 Nov | Cursor models 3.2% | Other models 28.6% | Included $12.88 of $20.00 | On-demand $0.00 of $50.00",
		"pro_over_limit": "Cursor Pro · resets 9 Nov | Cursor models 41.3% | Other models 100% | Included $20.00 of $20.00 (+ $14.61 bonus) | On-demand $17.85 of $50.00 | Credits $12.50 left | Limit answers are slower",
		"ultra":          "Cursor Ultra · resets 23 Oct | Cursor models 0% | Other models 46.4% | Included $232.22 of $400.00 | On-demand off",
		"team":           "Cursor Team · resets 1 Nov | Cursor models 0.4% | Other models 70.5% | On-demand $6.40 of $100.00 | Team pool $125.00 of $500.00",
		"enterprise":     "Cursor Enterprise · resets 1 Nov | Cursor models 0% | Other models 6.3% | On-demand $0.00 of $250.00",
		"legacy":         "Cursor Pro | Requests 469 of 500 (93.8%) | On-demand off",
	}
	sim := simulation(t)
	a := program(t, sim, &shelf{values: map[string][]byte{}}, "")
	attempt := a.StartLogin()
	if err := sim.Confirm(t.Context(), attempt.URL); err != nil {
		t.Fatal(err)
	}
	if err := attempt.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range sim.PlanNames() {
		if err := sim.SetPlan(name); err != nil {
			t.Fatal(err)
		}
		plan, err := a.Plan(t.Context(), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		lines := []string{plan.Title(time.UTC)}
		for _, l := range plan.Lines() {
			lines = append(lines, l.Label+" "+l.Value)
		}
		if got := strings.Join(lines, " | "); got != want[name] {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want[name])
		}
	}
}
