package main

import (
	"strings"
	"testing"
)

func TestRedactor(t *testing.T) {
	env := map[string]string{"CURSORTRAY_API_KEY": `my-"own"-key`, "CURSOR_API_KEY": "tiny"}
	var out strings.Builder
	r := newRedactor(&out, func(name string) string { return env[name] })
	r.add("added-later")
	for _, line := range []string{
		"a my-\"own\"-key b\n", `k="my-\"own\"-key"` + "\n", "added-later\n", "Authorization: Bearer abc.def\n", "tiny words stay\n",
		"eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl\n", "key_0123456789abcdef01\n", "ct-" + strings.Repeat("a", 43) + "\n",
	} {
		if n, err := r.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("Write(%q) = %d, %v", line, n, err)
		}
	}
	want := "a [secret] b\nk=\"[secret]\"\n[secret]\nAuthorization: [secret]\ntiny words stay\n[secret]\n[secret]\n[secret]\n"
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}
