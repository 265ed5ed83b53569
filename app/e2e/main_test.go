//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/browsertest"
)

// browserName is under what name this test binary is the user's browser.
const browserName = "scripted-browser"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == browserName {
		if err := confirmLogin(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	os.RemoveAll(programsDir())
	os.Exit(code)
}

// confirmLogin does what a person does who is shown the login page: in a real
// browser, and slowly enough for the menu to be looked at.
func confirmLogin(url string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b, err := browsertest.Start(ctx, browsertest.Config{Proxy: os.Getenv("HTTPS_PROXY"), KeyPin: os.Getenv("SIM_KEY_PIN")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.Open(ctx, url); err != nil {
		return err
	}
	return b.Press(ctx, "Log in")
}
