package editors

import (
	"bytes"
	"testing"

	"cursortray/app/confedit"
)

// Whatever a user's file says: set-up is done or refused, a second run changes
// nothing, undo gives back the file byte for byte, and if the user has touched
// it since, what it said.
func FuzzSetUpAndUndo(f *testing.F) {
	env := environment(Linux, "/home/me")
	var variants []variant
	for _, e := range all() {
		if e.targets == nil {
			continue
		}
		for _, t := range e.targets(env) {
			variants = append(variants, t.variants[len(t.variants)-1])
		}
	}
	seeds := []string{"", "{}", "{\n  // c\n  \"provider\": {\"cursortray\": {\"models\": {}}, },\n}\n", "[]", "[{\"name\": \"cursortray\"}]", "a = 1\n[model_providers.x]\n", "model = 'x' # c\r\n",
		"models:\n- name: x\n", "models: []\n", "OPENAI_MODEL='x' # c\n", "{\"env\": {\"ANTHROPIC_API_KEY\": \"x\"}}", "{\"models\": null}"}
	for i := range variants {
		for _, seed := range seeds {
			f.Add([]byte(seed), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		v := variants[int(which)%len(variants)]
		s, err := testSetup().checked()
		if err != nil {
			t.Fatal(err)
		}
		change, rec := planText(v, s, data, true, nil)
		if change.Problem != nil {
			return // left alone
		}
		if again, _ := planText(v, s, change.New, true, &rec); again.Problem != nil || again.Changes() {
			t.Fatalf("%q became %q and then %q (%v)", data, change.New, again.New, again.Problem)
		}
		if back, err := rec.undone(change.New); err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%q became %q and then %q (%v)", data, change.New, back, err)
		}
		before, err := confedit.Decode(v.format, data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := rec.undone(append(bytes.Clone(change.New), '\n'))
		if err != nil {
			return // refused
		}
		after, err := confedit.Decode(v.format, back)
		if err != nil || !confedit.Equal(bare(before), bare(after)) {
			t.Fatalf("%q became %q, was touched and undone to %q (%v)", data, change.New, back, err)
		}
	})
}

// bare takes out what is empty: an empty map that was null is no loss.
func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for name, value := range v {
			if b := bare(value); b != nil {
				m[name] = b
			}
		}
		if len(m) == 0 {
			return nil
		}
		return m
	case []any:
		var list []any
		for _, value := range v {
			if b := bare(value); b != nil {
				list = append(list, b)
			}
		}
		if len(list) == 0 {
			return nil
		}
		return list
	}
	return v
}
