package turn

import (
	"encoding/json"
	"net/http"
	"testing"

	"cursortray/proxy/chat"
)

func TestContext(t *testing.T) {
	for _, c := range []struct {
		context      *chat.Context
		body, header string
	}{
		{nil, ``, ""},
		{&chat.Context{Used: 84250, Max: 200000}, `,"cursor":{"context":{"used_tokens":84250,"max_tokens":200000,"percent":42.1,"stale":false}}`, "used=84250, max=200000, percent=42.1"},
		{&chat.Context{Used: 41250, Max: 100000, Stale: true}, `,"cursor":{"context":{"used_tokens":41250,"max_tokens":100000,"percent":41.3,"stale":true}}`, "used=41250, max=100000, percent=41.3, stale"},
		{&chat.Context{Used: 310000, Max: 300000}, `,"cursor":{"context":{"used_tokens":310000,"max_tokens":300000,"percent":100,"stale":false}}`, "used=310000, max=300000, percent=100"},
		{&chat.Context{Used: 5, Parts: []chat.ContextPart{{ID: "a", Label: "A \"x\"", Tokens: 2}, {ID: "b", Tokens: 3}}},
			`,"cursor":{"context":{"used_tokens":5,"stale":false,"parts":[{"id":"a","label":"A \"x\"","tokens":2},{"id":"b","label":"","tokens":3}]}}`, "used=5"},
	} {
		body := string(AppendExtras(nil, &chat.Finish{Context: c.context}))
		if body != c.body || !json.Valid([]byte(`{"a":1`+body+`}`)) {
			t.Errorf("%+v:\n%s", c.context, body)
		}
		h := http.Header{}
		setExtras(h, &chat.Finish{Context: c.context})
		if h.Get(ContextHeader) != c.header {
			t.Errorf("%+v: header %q", c.context, h.Get(ContextHeader))
		}
	}
}

func TestRoutedModel(t *testing.T) {
	f := &chat.Finish{Routed: "Opus 5 – “fast”"}
	if body := string(AppendExtras(nil, f)); body != `,"cursor":{"routed_model":"Opus 5 – “fast”"}` {
		t.Errorf("alone: %s", body)
	}
	h := http.Header{}
	setExtras(h, f)
	if got := h.Get(RoutedHeader); got != "Opus 5 ? ?fast?" {
		t.Errorf("header %q", got)
	}
	f.Context = &chat.Context{Used: 5}
	if body := string(AppendExtras(nil, f)); body != `,"cursor":{"context":{"used_tokens":5,"stale":false},"routed_model":"Opus 5 – “fast”"}` {
		t.Errorf("with a context: %s", body)
	}
}
