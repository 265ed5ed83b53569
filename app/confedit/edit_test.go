package confedit

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

var provider = Map{{"url", "http://127.0.0.1:1/v1"}, {"n", 200000}, {"tags", List{"a", "b"}}, {"price", 0.3}}

type editTest struct {
	name   string
	path   Path
	value  any
	before string
	after  string // "" = refused
}

func runEdits(t *testing.T, f Format, tests []editTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Set(f, []byte(test.before), test.path, test.value)
			if test.after == "" {
				if err == nil {
					t.Fatalf("not refused:\n%s", got)
				}
				return
			}
			if err != nil || string(got) != test.after {
				t.Fatalf("got %v\n%s\nwant\n%s", err, got, test.after)
			}
			again, err := Set(f, got, test.path, test.value)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("the second time: %v\n%s", err, again)
			}
		})
	}
}

func TestDS1_JSONKeepsTheRest(t *testing.T) {
	p := Names("provider", "x")
	one := Map{{"k", "v"}}
	runEdits(t, JSON, []editTest{
		{"empty", p, one, "", "{\n  \"provider\": {\n    \"x\": {\n      \"k\": \"v\"\n    }\n  }\n}\n"},
		{"comment only", Names("a"), 1, "// mine", "// mine\n{\n  \"a\": 1\n}\n"},
		{"no members", Names("a"), 1, "{}\n", "{\n  \"a\": 1\n}\n"},
		{"trailing comma stays", Names("b"), 1, "{\n\t\"a\": 1, // one\n\t// end\n}", "{\n\t\"a\": 1, // one\n\t// end\n\t\"b\": 1,\n}"},
		{"none is added", Names("b"), 1, "{\n    \"a\": 1 // one\n}\n", "{\n    \"a\": 1, // one\n    \"b\": 1\n}\n"},
		{"one line", Names("b"), provider, `{"a":1}`, `{"a":1, "b": { "url": "http://127.0.0.1:1/v1", "n": 200000, "tags": ["a", "b"], "price": 0.3 }}`},
		{"nested on one line", p, one, "{\n  \"provider\": {\"y\": {}}\n}\n", "{\n  \"provider\": {\"y\": {}, \"x\": { \"k\": \"v\" }}\n}\n"},
		{"Windows lines and mark", Names("b"), one, "\xef\xbb\xbf{\r\n  \"a\": 1\r\n}\r\n", "\xef\xbb\xbf{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"k\": \"v\"\r\n  }\r\n}\r\n"},
		{"value only", p, Map{{"k", "new"}}, "{ /* c */ \"provider\" : { \"x\": {\"k\" : \"old\" , \"mine\":[1,2,],}, }, }", "{ /* c */ \"provider\" : { \"x\": {\"k\" : \"new\" , \"mine\":[1,2,],}, }, }"},
		{"null is no map", p, one, "{\n  \"provider\": null\n}", "{\n  \"provider\": {\n    \"x\": {\n      \"k\": \"v\"\n    }\n  }\n}"},
		{"a text is no map", p, one, `{"provider": "x"}`, ""},
		{"list of keyed items", Names("m"), Keyed{"id", []Map{{{"id", "a"}, {"n", 2}}, {{"id", "b"}}}}, "{\n  \"m\": [\n    {\"id\": \"a\", \"n\": 1, \"mine\": true}, // first\n    {\"id\": \"z\"}\n  ]\n}", "{\n  \"m\": [\n    {\"id\": \"a\", \"n\": 2, \"mine\": true}, // first\n    {\"id\": \"z\"},\n    {\n      \"id\": \"b\"\n    }\n  ]\n}"},
		{"root list", Path{Item("name", "x")}, Map{{"name", "x"}}, "[\n\t{\n\t\t\"name\": \"y\"\n\t}\n]\n", "[\n\t{\n\t\t\"name\": \"y\"\n\t},\n\t{\n\t\t\"name\": \"x\"\n\t}\n]\n"},
		{"root list, empty file", Path{Item("name", "x")}, Map{{"name", "x"}}, "", "[\n  {\n    \"name\": \"x\"\n  }\n]\n"},
		{"map where a list is", p, one, "[]", ""},
		{"broken", p, one, `{"a": `, ""},
		{"twice the same name", Names("a"), 2, "{\"a\": 0, \"a\": 1}", "{\"a\": 0, \"a\": 2}"},
	})
}

func TestDS1_TOMLKeepsTheRest(t *testing.T) {
	addr := Names("addr")
	table := Names("providers", "x")
	one := Map{{"k", "v"}, {"n", 1}}
	runEdits(t, TOML, []editTest{
		{"empty file", addr, "new", "", "addr = \"new\"\n"},
		{"value only", addr, "new", "addr = \"old\"   # why\nx = 1\n", "addr = \"new\"   # why\nx = 1\n"},
		{"no spaces, no line end", addr, "new", "addr='old'", "addr=\"new\""},
		{"quoted key", addr, "new", "  \"addr\"\t=\t'''\nold # no comment\n''' # c\n", "  \"addr\"\t=\t\"new\" # c\n"},
		{"escaped key", addr, "new", `"add\u0072" = 1` + "\n", `"add\u0072" = "new"` + "\n"},
		{"key inside strings and arrays", addr, "new", "x = \"\"\"\naddr = 1\n\"\"\"\"\"\ny = [ # addr = 2\n  'addr = 3', '#',\n]\n", "x = \"\"\"\naddr = 1\n\"\"\"\"\"\ny = [ # addr = 2\n  'addr = 3', '#',\n]\naddr = \"new\"\n"},
		{"array value", addr, "new", "addr = [\n 1, # one\n 2,\n] # end\n", "addr = \"new\" # end\n"},
		{"after the last assignment", addr, "new", "# head\n\nx = 1\n\n# about t\n[t]\naddr = 2\n", "# head\n\nx = 1\naddr = \"new\"\n\n# about t\n[t]\naddr = 2\n"},
		{"before the first table", addr, "new", "# head\n\n# about t\n[t]\naddr = 2\n", "# head\n\naddr = \"new\"\n# about t\n[t]\naddr = 2\n"},
		{"before an array of tables", addr, "new", "[[t]]\n", "addr = \"new\"\n[[t]]\n"},
		{"comments only", addr, "new", "# addr = 'this'\n# end", "# addr = 'this'\n# end\naddr = \"new\"\n"},
		{"Windows lines", addr, "new", "x = 1\r\n", "x = 1\r\naddr = \"new\"\r\n"},
		{"byte-order mark and table", addr, "new", "\xef\xbb\xbf[t]\n", "\xef\xbb\xbfaddr = \"new\"\n[t]\n"},
		{"not a number", addr, "new", "x = nan\n", "x = nan\naddr = \"new\"\n"},
		{"dotted neighbour", addr, "new", "x.addr = 1\n", "x.addr = 1\naddr = \"new\"\n"},
		{"new table", table, one, "a = 1\n\n[providers.y] # y\nk = \"w\"\n# end\n", "a = 1\n\n[providers.y] # y\nk = \"w\"\n# end\n\n[providers.x]\nk = \"v\"\nn = 1\n"},
		{"new table in an empty file", table, one, "", "[providers.x]\nk = \"v\"\nn = 1\n"},
		{"no line end", table, one, "a = 1", "a = 1\n\n[providers.x]\nk = \"v\"\nn = 1\n"},
		{"values in a table", table, one, "[providers.x]\n  k = 'old' # c\n\n  # mine\n  z = 1\n\n[other]\nn = 5\n", "[providers.x]\n  k = \"v\" # c\n\n  # mine\n  z = 1\nn = 1\n\n[other]\nn = 5\n"},
		{"dotted keys", table, one, "providers.x.k = 'old'\n", ""},
		{"dotted value", table.Then(Names("k")...), "v", "providers.x.k = 'old'\n", "providers.x.k = \"v\"\n"},
		{"inline table", table, one, "providers = { x = { k = 'old' } }\n", ""},
		{"after a list of tables", table, one, "[[l]]\na = 1\n[l.providers.x]\nk = 2\n", "[[l]]\na = 1\n[l.providers.x]\nk = 2\n\n[providers.x]\nk = \"v\"\nn = 1\n"},
		{"a table that is only implied", Names("providers", "z"), 1, "[providers.x]\nk = 1\n", "[providers.x]\nk = 1\n\n[providers]\nz = 1\n"},
		{"quoted table", Names("a b", "c.d"), Map{{"é", "\x7f\""}}, "", "[\"a b\".\"c.d\"]\n\"é\" = \"\\u007f\\\"\"\n"},
		{"broken", addr, "new", "a = \n", ""},
	})
}

func TestDS1_YAMLKeepsTheRest(t *testing.T) {
	item := Names("models").Then(Item("name", "x"))
	one := Map{{"name", "x"}, {"roles", List{"chat", "edit"}}, {"opts", Map{{"num", 1}}}}
	written := "  - name: x\n    roles: [chat, edit]\n    opts:\n      num: 1\n"
	runEdits(t, YAML, []editTest{
		{"empty file", Names("a"), "b", "", "a: b\n"},
		{"comments only", Names("a"), "b", "# mine\n", "# mine\na: b\n"},
		{"value only", Names("a"), "b", "# c\na:   'it''s' # why\nz: 1\n", "# c\na:   b # why\nz: 1\n"},
		{"needs quotes", Names("a"), "yes", "a: b\n", "a: \"yes\"\n"},
		{"hash in the value", Names("a"), "b", "a: x#y # c\n", "a: b # c\n"},
		{"over lines", Names("a"), "b", "a: >-\n  x\n  # y\n\n# next\nz: 1\n", "a: b\n\n# next\nz: 1\n"},
		{"nothing", Names("a"), "b", "a: # c\nz: 1\n", "a: b # c\nz: 1\n"},
		{"new member", Names("q"), "http://127.0.0.1:1/v1", "a: 1\n\n# end", "a: 1\nq: http://127.0.0.1:1/v1\n\n# end"},
		{"no line end", Names("q"), 1, "a: 1", "a: 1\nq: 1\n"},
		{"new list", item, one, "a: 1\n", "a: 1\nmodels:\n" + written},
		{"empty list", item, one, "models: [] # none\nz: 1\n", "models: # none\n" + written + "z: 1\n"},
		{"list that is nothing", item, one, "models:\n\nz: 1\n", "models:\n" + written + "\nz: 1\n"},
		{"item of a list", item, one, "models:\n  # first\n  - name: y\n    k: |\n      # text\n\n  # last\n# about z\nz: 1\n", "models:\n  # first\n  - name: y\n    k: |\n      # text\n" + written + "\n  # last\n# about z\nz: 1\n"},
		{"list without indentation", item, Map{{"name", "x"}, {"num", 1}}, "models:\n- name: y\nz: 1\n", "models:\n- name: y\n- name: x\n  num: 1\nz: 1\n"},
		{"values of an item", item, one, "models:\n  - name: x # mine\n    roles: [chat]\n    k: 1\n", "models:\n  - name: x # mine\n    roles: [chat, edit]\n    k: 1\n    opts:\n      num: 1\n"},
		{"item in flow style", item, one, "models: [{name: y}]\n", ""},
		{"value in flow style", item.Then(Names("k")...), "new", "models: [{name: x, k: old}] # c\n", "models: [{name: x, k: new}] # c\n"},
		{"Windows lines", item, Map{{"name", "x"}, {"num", 1}}, "models:\r\n  - name: y\r\n", "models:\r\n  - name: y\r\n  - name: x\r\n    num: 1\r\n"},
		{"anchors", item, Map{{"name", "x"}}, "d: &d {k: 1}\nmodels:\n  - name: y\n    <<: *d\n", "d: &d {k: 1}\nmodels:\n  - name: y\n    <<: *d\n  - name: x\n"},
		{"letters of more bytes", Names("é"), "b", "\"é\": 'ü' # ö\n", "\"é\": b # ö\n"},
		{"document start", Names("a"), "b", "---\nz: 1\n", "---\nz: 1\na: b\n"},
		{"document end", Names("a"), "b", "z: 1\n...\n", "z: 1\na: b\n...\n"},
		{"two documents", Names("a"), "b", "z: 1\n---\nz: 2\n", ""},
		{"broken", Names("a"), "b", "a: [1\n", ""},
		{"no map", Names("a"), "b", "- 1\n", ""},
	})
}

func TestDS1_DotenvKeepsTheRest(t *testing.T) {
	runEdits(t, Dotenv, []editTest{
		{"empty", Names("A"), "http://127.0.0.1:1/v1", "", "A=http://127.0.0.1:1/v1\n"},
		{"value only", Names("A"), "new", "# c\nexport A = \"old # x\" # why\nB='1'\n", "# c\nexport A = new # why\nB='1'\n"},
		{"new line", Names("A"), "it is", "B=1 # one\r\nwhat is this\r\n", "B=1 # one\r\nwhat is this\r\nA='it is'\r\n"},
		{"the last counts", Names("A"), "new", "A=1\nA=2\n", "A=1\nA=new\n"},
		{"over lines", Names("A"), "new", "B=\"x\nA=1\n\"\n", "B=\"x\nA=1\n\"\nA=new\n"},
		{"a quote", Names("A"), "it's", "", ""},
	})
}

func TestRemoveIsTheWayBack(t *testing.T) {
	tests := []struct {
		name string
		f    Format
		path Path
		text string
	}{
		{"JSON", JSON, Names("x"), "{\n  \"a\": 1 // one\n}\n"},
		{"JSON with trailing comma", JSON, Names("x"), "{\n  \"a\": 1, // one\n  // end\n}\n"},
		{"JSON on one line", JSON, Names("x"), `{"a":1}`},
		{"JSON nested", JSON, Names("p", "x"), "{\n\t\"p\": {\n\t\t\"y\": 1,\n\t},\n}"},
		{"JSON list", JSON, Path{Item("name", "x")}, "[\n  {\"name\": \"y\"} // c\n]\n"},
		{"TOML", TOML, Names("x"), "# c\na = 1\n\n[t]\nb = 1 # c\n# end\n"},
		{"TOML table", TOML, Names("t", "x"), "a = 1\n[t.y]\nb = 1\n\n# end\n"},
		{"YAML", YAML, Names("x"), "a: 1 # c\n\n# end\n"},
		{"YAML list", YAML, Names("m").Then(Item("name", "x")), "m:\n  - name: y # c\nz: 1\n"},
		{"dotenv", Dotenv, Names("x"), "A=1\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var value any = Map{{"name", "x"}, {"deep", Map{{"k", "v"}}}}
			if test.f == Dotenv {
				value = "v"
			}
			edited, err := Set(test.f, []byte(test.text), test.path, value)
			if err != nil || string(edited) == test.text {
				t.Fatalf("set: %v\n%s", err, edited)
			}
			back, err := Remove(test.f, edited, test.path)
			if err != nil || string(back) != test.text {
				t.Errorf("got %v\n%s\nfrom\n%s\nwant\n%s", err, back, edited, test.text)
			}
		})
	}
}

func TestRemoveFromTheMiddle(t *testing.T) {
	tests := []struct {
		name          string
		f             Format
		path          Path
		before, after string
	}{
		{"JSON first", JSON, Names("x"), "{ \"x\": 1, \"b\": 2 }", "{ \"b\": 2 }"},
		{"JSON middle", JSON, Names("x"), "{\n  \"a\": 1, // one\n  // ours\n  \"x\": 2,\n  \"b\": 3\n}", "{\n  \"a\": 1, // one\n  // ours\n  \"b\": 3\n}"},
		{"JSON before the bracket", JSON, Names("x"), "{\"a\": 1, // one\n\"x\": 2}", "{\"a\": 1 // one\n}"},
		{"JSON only one", JSON, Names("p", "x"), "{\"p\": {\"x\": 2}}", "{\"p\": {}}"},
		{"TOML table in two parts", TOML, Names("x"), "[x]\na = 1\n\n[y]\nb = 1\n\n[x.z]\n# in\nc = 1\n# end\n", "\n[y]\nb = 1\n# end\n"},
		{"YAML middle", YAML, Names("x"), "a: 1\n# about x\nx:\n  - 1\n\n# about b\nb: 2\n", "a: 1\n# about x\n\n# about b\nb: 2\n"},
		{"YAML only item", YAML, Names("m").Then(Item("name", "x")), "m: # c\n  - name: x\nz: 1\n", "m: [] # c\nz: 1\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Remove(test.f, []byte(test.before), test.path)
			if err != nil || string(got) != test.after {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, test.after)
			}
		})
	}
}

// The error says where, and nothing of what the file holds.
func TestSE1_SyntaxErrorsDoNotQuote(t *testing.T) {
	for f, text := range map[Format]string{
		JSON: "{\n  \"key\": secretsecret\n}",
		TOML: "a = 1\nkey = secretsecret secretsecret\n",
		YAML: "a: 1\nkey: \"secretsecret\n  - b: [\n",
	} {
		_, err := Set(f, []byte(text), Names("x"), 1)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Line == 0 || strings.Contains(err.Error(), "secretsecret") {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 6000), strings.Repeat(" ", maxBytes+1)} {
		if _, err := Decode(JSON, []byte(text)); err == nil {
			t.Error("taken")
		}
	}
}
