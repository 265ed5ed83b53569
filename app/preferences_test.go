package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"cursortray/keychain"
)

// saver notes what is stored for the next start. It fails after n times.
type saver struct {
	n    int
	kept chan string
}

func newSaver(n int) *saver { return &saver{n: n, kept: make(chan string, 8)} }

func (s *saver) save(key string, value any) error {
	s.kept <- fmt.Sprintf("%s = %v", key, value)
	if s.n--; s.n < 0 {
		return errors.New("read-only")
	}
	return nil
}

func TestStartOfTheProxyIsAPreference(t *testing.T) {
	store := newSaver(1)
	r := newRig(t, func(c *Config) { c.SaveSetting, c.StartProxy = store.save, true })
	r.Do(SetStartProxy{On: false})
	r.until(t, "the preference is shown", func(s Snapshot) bool { return s.Preferences == Preferences{Known: true} })
	if got := <-store.kept; got != "start_proxy = false" {
		t.Errorf("%q was saved", got)
	}
	r.Do(SetStartProxy{On: true})
	r.until(t, "that it was not saved is said", func(s Snapshot) bool {
		return s.Notice.Text == "The next start does it, but not those after: it was not saved"
	})
}

// The port moves when the user says so, and only then. (PL-1)
func TestPL1_ThePortMovesWhenAskedTo(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	store := newSaver(1)
	r := newRig(t, func(c *Config) { c.Addr, c.SaveSetting = busy.Addr().String(), store.save })
	s := r.in(t, Blocked)
	if s.Proxy.Next == "" || s.Proxy.Next == s.Proxy.Addr {
		t.Fatalf("the next address is %q", s.Proxy.Next)
	}
	r.Do(UseNextPort{})
	if moved := r.in(t, Running); moved.Proxy.Addr != s.Proxy.Next || moved.Proxy.Next != "" {
		t.Errorf("it runs at %s, asked for was %s", moved.Proxy.Addr, s.Proxy.Next)
	}
	if got, want := <-store.kept, "addr = "+s.Proxy.Next; got != want {
		t.Errorf("saved was %q, want %q", got, want)
	}
	if code := get(t, r.Snapshot().Proxy.BaseURL+"/models"); code != 200 {
		t.Errorf("status %d at the new address", code)
	}
	r.Do(UseNextPort{}) // nothing to move away from
	r.Do(StopProxy{})
	r.in(t, Stopped)
}

func TestCopiesForTheAnthropicAPI(t *testing.T) {
	r := newRig(t, nil)
	base := r.in(t, Running).Proxy.BaseURL
	r.Do(CopyAnthropicURL{})
	root := <-r.copies
	if root+"/v1" != base {
		t.Errorf("copied was %q, the base URL is %q", root, base)
	}
	r.Do(CopyEnvironment{})
	want := "export OPENAI_BASE_URL=" + base + "\nexport OPENAI_API_KEY=" + testKey +
		"\nexport ANTHROPIC_BASE_URL=" + root + "\nexport ANTHROPIC_AUTH_TOKEN=" + testKey + "\n"
	if got := <-r.copies; got != want {
		t.Errorf("copied was\n%s", got)
	}
}

func TestPagesOpen(t *testing.T) {
	opened := make(chan string, 8)
	r := newRig(t, func(c *Config) {
		c.SettingsFile = "/home/u/config.toml"
		c.OpenFile = func(_ context.Context, path string) error {
			opened <- path
			return nil
		}
		c.Open = func(_ context.Context, url string) error {
			opened <- url
			if url == InstallPage.url() {
				return errors.New("no browser")
			}
			return nil
		}
	})
	r.Do(OpenSettingsFile{})
	if got := <-opened; got != "/home/u/config.toml" {
		t.Errorf("opened was %q", got)
	}
	for _, page := range []Link{AccountPage, UsagePage} {
		r.Do(OpenLink{Page: page})
		if got := <-opened; got != page.url() {
			t.Errorf("opened was %q", got)
		}
	}
	r.Do(OpenLink{Page: 99}) // opens nothing
	r.Do(OpenLink{Page: InstallPage})
	r.until(t, "what did not open is told", func(s Snapshot) bool {
		return s.Notice.Text == "Not opened. Do it yourself: https://cursor.com/cli"
	})
}

func TestKeyringStatesAreToldApart(t *testing.T) {
	wrapped := func(err error) error { return fmt.Errorf("it says: %w", err) }
	for _, c := range []struct {
		err     error
		storage string
		want    Keyring
	}{
		{nil, "keychain", KeyringFine},
		{wrapped(keychain.ErrLocked), "keychain", KeyringLocked},
		{wrapped(keychain.ErrUnavailable), "keychain", KeyringAbsent},
		{wrapped(keychain.ErrUnavailable), "file", KeyringFailing},
		{wrapped(keychain.ErrCorrupt), "file", KeyringDamaged},
		{errors.New("something else"), "keychain", KeyringFailing},
	} {
		if got := keyringState(c.err, c.storage); got != c.want {
			t.Errorf("%v from a %s is %v, want %v", c.err, c.storage, got, c.want)
		}
	}
}
