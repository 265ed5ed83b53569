package keychain

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzParseHead(f *testing.F) {
	for _, seed := range []string{
		"", "sk-123", `{"access":"x"}`, `{"v":1,"n":`, `{"v":1,"n":0}`, `{"v":2,"n":1}`, `{"v":1,"n":-1,"gen":"","sha256":""}`,
		`{"v":1,"n":1,"gen":"01234567","sha256":"` + strings.Repeat("a", 64) + `"}`,
		`{"v":1,"n":1,"gen":"../../..","sha256":"` + strings.Repeat("a", 64) + `"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, item string) {
		h, isHead, err := parseHead(item)
		if !isHead && err != nil {
			t.Fatalf("a plain value gives %v", err)
		}
		if !isHead || err != nil {
			return
		}
		if h.N < 0 || h.N > maxParts {
			t.Fatalf("%d parts", h.N)
		}
		again, isHead, err := parseHead(mustJSON(h))
		if !isHead || err != nil || again != h {
			t.Fatalf("%+v became %+v, %v, %v", h, again, isHead, err)
		}
	})
}

func FuzzParseJournal(f *testing.F) {
	f.Add(`{"gens":[{"gen":"01234567","n":3}]}`)
	f.Add(`{"gens":[{"gen":"01234567","n":99999999}]}`)
	f.Fuzz(func(t *testing.T, item string) {
		for _, g := range parseJournal(item) {
			if g.N > maxParts || strings.Contains(g.item("login", 0)[6:], "login") {
				t.Fatalf("generation %+v", g)
			}
		}
	})
}

func FuzzLayOut(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(`{"v":1,"n":1,"gen":"01234567","sha256":""}`))
	f.Add(bytes.Repeat([]byte("a"), 2001))
	f.Add([]byte("a\x00"))
	f.Fuzz(func(t *testing.T, value []byte) {
		item, _, parts := layOut(value, "01234567")
		for _, text := range append(parts, item) {
			if text == "" || len(text) > maxItem || !printable(text) {
				t.Fatalf("an item is %q", text)
			}
		}
		h, isHead, err := parseHead(item)
		if err != nil {
			t.Fatal(err)
		}
		got := []byte(item)
		if isHead {
			if got, err = h.join(parts); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, value) {
			t.Fatalf("%q became %q", value, got)
		}
	})
}
