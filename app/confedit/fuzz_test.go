package confedit

import (
	"bytes"
	"testing"
)

// Whatever valid file it gets, the editor keeps every other value and every
// byte, or refuses; taking the value out again leaves what was there.
func fuzzEdits(f *testing.F, format Format, seeds ...string) {
	for _, seed := range seeds {
		for n := range 4 {
			f.Add([]byte(seed), byte(n), "value")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, n byte, text string) {
		before, err := Decode(format, data)
		if err != nil {
			return
		}
		path, value := fuzzEdit(format, n, text)
		edited, err := Set(format, data, path, value)
		if err != nil {
			return // refused: the file is not touched
		}
		after, err := Decode(format, edited)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, edited, err)
		}
		got, ok := Get(after, path)
		if _, merged := value.(Map); !ok || !merged && !Equal(got, value) {
			t.Fatalf("%q became %q: no value at %v", data, edited, path)
		}
		if again, err := Set(format, edited, path, value); err != nil || !bytes.Equal(again, edited) {
			t.Fatalf("setting it twice: %q became %q (%v)", edited, again, err)
		}
		if _, there := Get(before, path[:1]); there {
			return
		}
		if !subsequence(data, edited) {
			t.Fatalf("%q lost bytes: %q", data, edited)
		}
		back, err := Remove(format, edited, path[:1])
		if err != nil {
			t.Fatalf("%q became %q, no way back: %v", data, edited, err)
		}
		if !bytes.Equal(squeeze(back), squeeze(data)) && before != nil {
			t.Fatalf("%q became %q and then %q", data, edited, back)
		}
	})
}

func fuzzEdit(format Format, n byte, text string) (Path, any) {
	full := Map{{"name", "x"}, {"k", text}, {"list", List{text, "b"}}, {"deep", Map{{"n", 3}}}}
	switch {
	case format == Dotenv || n%4 == 0:
		return Names("a"), text
	case n%4 == 1:
		return Names("a", "b"), full
	case n%4 == 2:
		return Names("a").Then(Item("name", "x")), full
	default:
		return Names("a", "b", "c"), 1.5
	}
}

func subsequence(small, big []byte) bool {
	for _, c := range small {
		i := bytes.IndexByte(big, c)
		if i < 0 {
			return false
		}
		big = big[i+1:]
	}
	return true
}

// squeeze drops white space: an empty {} that was filled is left on two lines.
func squeeze(data []byte) []byte {
	return bytes.Join(bytes.Fields(data), nil)
}

func FuzzJSON(f *testing.F) {
	fuzzEdits(f, JSON, "", "// c", "{}", "{ /* c */ }", "{\r\n\t\"b\": [1, 2,], // c\r\n}", `{"a":{"b":null,"a":1}}`, "{\"a\":[{\"name\":\"x\"} // c\n]}", "\xef\xbb\xbf{\"b\":1}", "{\"b\":1 // c\n}", "{\"b\":1, // ,\n}")
}

func FuzzTOML(f *testing.F) {
	fuzzEdits(f, TOML, "", "addr = 'x'\n", "# c\r\nx = [1,\n2]\n[t]\naddr = 1", "addr = \"\"\"a\\\"\"\"\"\"\"", "x = '''''a'''''\naddr = 1979-05-27T07:32:00Z # d",
		"\xef\xbb\xbf'addr' = { a = \"}\" }", "a.\"b # c\".d = inf\n", "[a]\nb = 1\n", "[a.b]\nk = 'v'\n[[l]]\n[l.a]\n", "addr = 1_000 #\n#\n[[x]]")
}

func FuzzYAML(f *testing.F) {
	fuzzEdits(f, YAML, "", "# c", "a: 1\n", "b: |\n  x\n\n# c\n", "a:\n- name: x\n  k: 1 # c\n", "a: []\nb: {c: d}", "---\n? b\n: c\n...\n", "b: &x [1,\n 2]\nc: *x\n", "a: \"x\\\n  y\"\r\n", "b: >+\n  x\n\n\n")
}

func FuzzDotenv(f *testing.F) {
	fuzzEdits(f, Dotenv, "", "a=1", "export b = 'x' # c\r\na=\"y\nz\"\n", "a", "b=`x\n")
}
