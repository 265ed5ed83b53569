package app

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/cursor"
)

const testPrices = `{"format": 1, "as_of": "2026-10-10", "team_fee": "0.25", "legacy_max_mode_factor": "1.2", "models": [
	{"id": "default", "pool": "cursor", "names": ["auto"], "window": 200000, "rates": [{"input": "1.25", "output": "6"}]},
	{"id": "opus-5", "pool": "other", "window": 300000, "max_window": 1000000,
	 "rates": [{"input": "5", "output": "25"}], "fast": [{"input": "10", "output": "50"}]}]}`

func prices(t *testing.T) *cursor.Prices {
	t.Helper()
	p, err := cursor.ParsePrices([]byte(testPrices))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// catalogOfIDs is an account's list as the plainest client sees it.
func catalogOfIDs(t *testing.T, fetched time.Time, ids ...string) *cursor.Catalog {
	t.Helper()
	text := `{"models":[{"modelId":"` + strings.Join(ids, `"},{"modelId":"`) + `"}]}`
	c, err := cursor.ParseCatalog(nil, []byte(text), nil, fetched, cursor.CatalogConfig{Prices: prices(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func signedIn(catalog *cursor.Catalog) *fakeAccount {
	a := newFakeAccount()
	a.state, a.catalog = cursor.AccountState{SignedIn: true, Storage: "keychain"}, catalog
	return a
}

func TestModelsAreGroupedAndPriced(t *testing.T) {
	account := signedIn(catalogOfIDs(t, time.Now(), "default", "opus-5-low", "opus-5-high", "opus-5-high-fast", "unknown-1"))
	r := newAccountRig(t, account)
	s := r.until(t, "there are models", func(s Snapshot) bool { return s.Models.List != nil })
	var got []string
	for _, f := range s.Models.List.Families {
		got = append(got, f.ID+" "+f.Price)
		for _, v := range f.Variants {
			got = append(got, "  "+v.ID+" "+v.Price)
		}
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{"default $1.25 / $6", "  opus-5-high $5 / $25", "  opus-5-high-fast $10 / $50", "unknown-1 "} {
		if !strings.Contains(text+"\n", want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	r.Do(CopyModel{ID: "opus-5-high"})
	if id := <-r.copies; id != "opus-5-high" {
		t.Errorf("copied %q", id)
	}
	account.do(func() { account.catalog = catalogOfIDs(t, time.Now(), "default", "opus-6") })
	r.Do(Refresh{})
	r.until(t, "the new list", func(s Snapshot) bool { return s.Models.List != nil && len(s.Models.List.Families) == 2 })
	select {
	case <-account.renewed:
	case <-time.After(20 * time.Second):
		t.Error("Cursor was not asked")
	}
	r.Do(SignOut{})
	r.until(t, "the list is gone", func(s Snapshot) bool { return s.Account.State == LoggedOut && s.Models.List == nil })
}

func TestMU1_OldListStaysWithItsAge(t *testing.T) {
	account := signedIn(catalogOfIDs(t, time.Now().Add(-72*time.Hour), "default"))
	account.failure = chat.Errorf(chat.BadGateway, "Cursor cannot be reached")
	r := newAccountRig(t, account)
	s := r.until(t, "there are models", func(s Snapshot) bool { return s.Models.List != nil })
	if s.Models.Age != "3 days ago" || s.Models.Problem == nil {
		t.Errorf("%+v", s.Models)
	}
	if len(s.Problems()) != 0 {
		t.Errorf("an old list is a problem: %v", s.Problems())
	}
}

// The back-end's list gets what is known of its ids.
func TestDescribeModels(t *testing.T) {
	bare := []chat.Model{{ID: "auto", Name: "Auto"}, {ID: "opus-5-high-fast", Name: "Opus"}, {ID: "other", Name: "Other", ContextWindow: 7}}
	got := DescribeModels(bare, nil, prices(t))
	if p := got[0].Price; p == nil || p.Input != "0.00000125" || got[0].ContextWindow != 200_000 || got[0].ID != "auto" {
		t.Errorf("auto: %+v", got[0])
	}
	if p := got[1].Price; p == nil || p.Output != "0.00005" || got[1].Group != "opus-5" {
		t.Errorf("opus: %+v", got[1])
	}
	if got[2].Price != nil || got[2].ContextWindow != 7 {
		t.Errorf("other: %+v", got[2])
	}
	if d := cmp.Diff(bare, DescribeModels(bare, nil, nil)); d != "" {
		t.Errorf("with nothing known:\n%s", d)
	}
}

func TestPricesInTheProxysList(t *testing.T) {
	r := newAccountRig(t, signedIn(catalogOfIDs(t, time.Now(), "fake-model", "opus-5")), func(c *Config) { c.Prices = prices(t) })
	url := r.in(t, Running).Proxy.BaseURL
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), `"fake-model"`) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestPerMillion(t *testing.T) {
	for in, want := range map[string]string{
		"0.000005": "5", "0.00000125": "1.25", "0.000000075": "0.075", "0.0000005": "0.50", "": "", "free": "", "1e999999999": "", "-1": "", "1.2.3": "",
	} {
		if got := PerMillion(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestPlanIsShownAndFollowed(t *testing.T) {
	account := signedIn(nil)
	account.plan = cursor.Plan{Name: "Pro", State: cursor.PlanOK, Fetched: time.Now(), Requests: cursor.Requests{Used: 31, Limit: 500}}
	r := newAccountRig(t, account, func(c *Config) {
		c.Backend = chattest.New(chattest.Turn{chattest.Text("hello"), chattest.Finish(chat.Stop)})
	})
	s := r.until(t, "there are figures", func(s Snapshot) bool { return s.Plan.Title != "" })
	if s.Plan.Title != "Cursor Pro" || s.Plan.Age != "" || s.Plan.Lines[0] != (PlanLine{"Requests", "31 of 500 (6.2%)"}) {
		t.Errorf("%+v", s.Plan)
	}
	r.Do(MenuOpened{})
	r.Do(Refresh{})
	_, _ = io.Copy(io.Discard, post(t, r.in(t, Running).Proxy.BaseURL).Body)
	var asked string
	deadline := time.Now().Add(10 * time.Second)
	for !strings.HasSuffix(asked, "run") && time.Now().Before(deadline) {
		account.do(func() { asked = strings.Join(account.asked, " ") })
	}
	if asked != "menu refresh run" {
		t.Errorf("the figures were asked for by %q", asked)
	}
	if u, err := r.Plan(t.Context(), true); err != nil || u.Figures.Requests.Used != 31 || u.Title != "Cursor Pro" {
		t.Errorf("Plan: %v, %+v", err, u)
	}
	r.Do(SignOut{})
	if s := r.inState(t, LoggedOut); s.Plan != (PlanStatus{}) {
		t.Errorf("after the logout: %+v", s.Plan)
	}
}

// No figure is shown without its age when it is old.
func TestTD4_FiguresGrowOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := signedIn(nil)
		account.plan = cursor.Plan{Name: "Pro", State: cursor.PlanOK, Fetched: time.Now()}
		a := New(Config{
			Addr: "127.0.0.1:0", Backend: chattest.New(), Keys: &fakeKeys{}, Account: account, AccountChanged: account.changed,
			Listen: func(string) (net.Listener, error) { return newDeafListener(), nil },
		})
		ended := make(chan error, 1)
		go func() { ended <- a.Run(t.Context()) }()
		synctest.Wait()
		if s := a.Snapshot(); s.Plan.Title == "" || s.Plan.Age != "" {
			t.Errorf("at first: %+v", s.Plan)
		}
		time.Sleep(25*time.Minute + 30*time.Second)
		synctest.Wait()
		if s := a.Snapshot(); s.Plan.Age != "25 min ago" {
			t.Errorf("after 25 minutes: %+v", s.Plan)
		}
		a.Do(Quit{})
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// deafListener is a port that nobody calls.
type deafListener struct {
	net.Listener
	closed chan struct{}
	once   sync.Once
}

func newDeafListener() *deafListener { return &deafListener{closed: make(chan struct{})} }

func (l *deafListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l *deafListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *deafListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
