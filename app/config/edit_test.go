package config

import (
	"bytes"
	"fmt"
	"testing"
)

func TestSetKeyKeepsTheRest(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"empty file", "", "addr = 'new'\n"},
		{"value only", "addr = \"old\"   # why\nx = 1\n", "addr = 'new'   # why\nx = 1\n"},
		{"no spaces, no line end", "addr='old'", "addr='new'"},
		{"quoted key", "  \"addr\"\t=\t'''\nold # no comment\n''' # c\n", "  \"addr\"\t=\t'new' # c\n"},
		{"escaped key", `"add\u0072" = 1` + "\n", `"add\u0072" = 'new'` + "\n"},
		{"key inside strings and arrays", "x = \"\"\"\naddr = 1\n\"\"\"\"\"\ny = [ # addr = 2\n  'addr = 3', '#',\n]\n", "x = \"\"\"\naddr = 1\n\"\"\"\"\"\ny = [ # addr = 2\n  'addr = 3', '#',\n]\naddr = 'new'\n"},
		{"array value", "addr = [\n 1, # one\n 2,\n] # end\n", "addr = 'new' # end\n"},
		{"after the last assignment", "# head\n\nx = 1\n\n# about t\n[t]\naddr = 2\n", "# head\n\nx = 1\naddr = 'new'\n\n# about t\n[t]\naddr = 2\n"},
		{"before the first table", "# head\n\n# about t\n[t]\naddr = 2\n", "# head\n\naddr = 'new'\n# about t\n[t]\naddr = 2\n"},
		{"before an array of tables", "[[t]]\n", "addr = 'new'\n[[t]]\n"},
		{"comments only", "# addr = 'this'\n# end", "# addr = 'this'\n# end\naddr = 'new'\n"},
		{"Windows lines", "x = 1\r\n", "x = 1\r\naddr = 'new'\r\n"},
		{"Windows value", "addr = 1\r\nx = 1\r\n", "addr = 'new'\r\nx = 1\r\n"},
		{"byte-order mark", "\xef\xbb\xbfaddr = 1\n", "\xef\xbb\xbfaddr = 'new'\n"},
		{"byte-order mark and table", "\xef\xbb\xbf[t]\n", "\xef\xbb\xbfaddr = 'new'\n[t]\n"},
		{"byte-order mark only", "\xef\xbb\xbf", "\xef\xbb\xbfaddr = 'new'\n"},
		{"not a number", "x = nan\n", "x = nan\naddr = 'new'\n"},
		{"inline table", "x = { addr = 1, y = [ { addr = 2 } ] }\n", "x = { addr = 1, y = [ { addr = 2 } ] }\naddr = 'new'\n"},
		{"dotted neighbour", "x.addr = 1\n", "x.addr = 1\naddr = 'new'\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := setKey([]byte(test.before), "addr", "new")
			if err != nil || string(got) != test.after {
				t.Errorf("got\n%q, %v\nwant\n%q", got, err, test.after)
			}
		})
	}
}

// Whatever valid file it gets, the editor keeps every other value and every
// byte around the one it sets, or refuses.
func FuzzSetKey(f *testing.F) {
	for _, seed := range []string{
		"", "addr = 'x'\n", "# c\r\nx = [1,\n2]\n[t]\naddr = 1", "addr = \"\"\"a\\\"\"\"\"\"\"", "x = '''''a'''''\naddr = 1979-05-27T07:32:00Z # d",
		"\xef\xbb\xbf'addr' = { a = \"}\" }", "a.\"b # c\".d = inf\n", "[addr]\n", "addr = 1_000 #\n#\n[[x]]",
	} {
		f.Add([]byte(seed), "value")
	}
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		before, err := decode(data)
		if err != nil {
			return
		}
		edited, err := setKey(data, "addr", value)
		if err != nil {
			return // refused: the file is not touched
		}
		after, err := decode(edited)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, edited, err)
		}
		delete(before, "addr")
		delete(after, "addr")
		if fmt.Sprintf("%#v", before) != fmt.Sprintf("%#v", after) {
			t.Fatalf("%q became %q", data, edited)
		}
		again, err := setKey(edited, "addr", value)
		if err != nil || !bytes.Equal(again, edited) {
			t.Fatalf("setting it twice: %q became %q (%v)", edited, again, err)
		}
	})
}
