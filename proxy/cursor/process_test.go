package cursor

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary runs itself as another process with the same login.
const childVariable = "CURSOR_TEST_CHILD"

// order is what a child does: get a token Times times at once, or for ever
// renew and tell.
type order struct {
	Dir, API, Certificate string
	Times                 int
}

// fileStore is a Store in a folder; a rename keeps it whole.
type fileStore string

func (s fileStore) Get(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(s), name))
}

func (s fileStore) Set(_ context.Context, name string, value []byte) error {
	temp, err := os.CreateTemp(string(s), "new")
	if err != nil {
		return err
	}
	_, err = temp.Write(value)
	if errClose := temp.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), filepath.Join(string(s), name))
}

func (s fileStore) Delete(_ context.Context, name string) error {
	return os.Remove(filepath.Join(string(s), name))
}

func (o order) config() (Config, error) {
	hosts, err := ParseHosts(o.API, "")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(o.Certificate))
	return Config{
		Client:   &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}},
		Hosts:    hosts,
		Store:    fileStore(o.Dir),
		LockFile: filepath.Join(o.Dir, "lock"),
	}, err
}

func child(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	cfg, err := o.config()
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	s := NewTokenSource(cfg)
	defer s.Close()
	if o.Times == 0 {
		for {
			token, err := s.Token(ctx)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			fmt.Println(token)
			s.note(func() { s.creds.expiry = time.Time{}; s.tried = "" }) // due again
		}
	}
	var all sync.WaitGroup
	tokens := make([]string, o.Times)
	for i := range tokens {
		all.Go(func() {
			token, err := s.Token(ctx)
			tokens[i] = fmt.Sprint(token, err)
		})
	}
	all.Wait()
	for _, token := range tokens {
		fmt.Println(token)
	}
	return 0
}

func (f *fakeCursor) order(dir string, times int) order {
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
	return order{Dir: dir, API: f.URL, Certificate: string(certificate), Times: times}
}

func (o order) command(ctx context.Context) *exec.Cmd {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childVariable+"="+string(text))
	return cmd
}

func TestAU1_OneRenewalForAllProcesses(t *testing.T) {
	f := newFakeCursor(t)
	dir := t.TempDir()
	if err := fileStore(dir).Set(t.Context(), loginName, f.login(time.Minute).encode()); err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			out, err := f.order(dir, 20).command(t.Context()).Output()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for line := range strings.Lines(string(out)) {
				lines[line]++
			}
		})
	}
	all.Wait()
	if len(lines) != 1 {
		t.Errorf("%d different results", len(lines))
	}
	f.wantCalls(t, exchangePath, 1)
}

func TestKillingAProcessThatRenews(t *testing.T) {
	f := newFakeCursor(t)
	f.rotate = false // else a login dies with the process between Cursor's answer and saving it
	dir := t.TempDir()
	if err := fileStore(dir).Set(t.Context(), loginName, f.login(time.Minute).encode()); err != nil {
		t.Fatal(err)
	}
	for range 15 {
		ctx, cancel := context.WithCancel(t.Context())
		cmd := f.order(dir, 0).command(ctx)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("the process renews nothing; is the lock of a killed one still held?")
		}
		kill := time.AfterFunc(rand.N(30*time.Millisecond), cancel)
		last := lines.Text()
		for lines.Scan() {
			last = lines.Text()
		}
		kill.Stop()
		cancel()
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process ended by itself")
		}
		text, err := fileStore(dir).Get(t.Context(), loginName)
		if err != nil {
			t.Fatal(err)
		}
		c, err := decodeCredentials(text)
		if err != nil || c.refresh != "refresh-secret-0" {
			t.Fatalf("the stored login is not whole: %v", err)
		}
		f.set(func() {
			if !f.valid[c.access] || !f.valid[last] {
				t.Error("a token is stored that Cursor never gave out")
			}
		})
	}
}
