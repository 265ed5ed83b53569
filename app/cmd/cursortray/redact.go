package main

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// redactor masks secrets in everything that is written to standard error, as
// the last line of defence: nothing is meant to write them there.
type redactor struct {
	*masks
	out io.Writer
}

// masks are what a process masks, wherever it writes.
type masks struct {
	mu     sync.Mutex // also keeps lines whole
	exact  [][]byte
	shapes *regexp.Regexp
}

// minSecret keeps a silly key such as "a" from masking every word.
const minSecret = 6

func newRedactor(out io.Writer, env func(string) string) *redactor {
	r := &redactor{out: out, masks: &masks{
		// A local key, a dashboard key of Cursor, a JSON web token, a header.
		shapes: regexp.MustCompile(`\bcte?-[A-Za-z0-9_-]{43}|\b(?:key|crsr)_[A-Za-z0-9]{16,}|\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|(?i)\bbearer +[^\s"]+`),
	}}
	for _, name := range []string{"CURSORTRAY_API_KEY", "CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"} {
		r.add(env(name))
	}
	return r
}

// add masks one more text from now on.
func (r *redactor) add(secret string) {
	if len(secret) < minSecret {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exact = append(r.exact, []byte(secret))
	if quoted := strings.Trim(strconv.Quote(secret), `"`); quoted != secret {
		r.exact = append(r.exact, []byte(quoted)) // as the log spells it
	}
}

// to returns a redactor with the same masks that writes elsewhere.
func (r *redactor) to(out io.Writer) *redactor { return &redactor{masks: r.masks, out: out} }

// Write is called with whole lines.
func (r *redactor) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.out.Write(r.mask(line))
	return len(line), err
}

// masked returns text without what is masked.
func (r *masks) masked(text []byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mask(text)
}

// mask is called with mu held.
func (r *masks) mask(text []byte) []byte {
	masked := r.shapes.ReplaceAll(text, []byte("[secret]"))
	for _, secret := range r.exact {
		masked = bytes.ReplaceAll(masked, secret, []byte("[secret]"))
	}
	return masked
}
