package editors

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fakePort answers in all three dialects with the model's name.
func fakePort(t *testing.T) (*httptest.Server, *[]string) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body wireRequest
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		seen = append(seen, r.URL.Path+" "+body.Model+" "+r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer local-key-1" {
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte(`{"error":{"message":"wrong key: see cursortray"}}`))
			return
		}
		events := map[string]string{
			"/v1/chat/completions": `{"choices":[{"delta":{"content":"I am "}}]}` + "\n" + `{"choices":[{"delta":{"content":"MODEL"},"finish_reason":"stop"}]}` + "\n[DONE]",
			"/v1/responses":        `{"type":"response.output_text.delta","delta":"I am MODEL"}` + "\n" + `{"type":"response.completed","response":{}}`,
			"/v1/messages":         `{"type":"content_block_delta","delta":{"type":"text_delta","text":"I am MODEL"}}` + "\n" + `{"type":"message_stop"}`,
		}[r.URL.Path]
		switch body.Model {
		case "cut":
			events = strings.Split(events, "\n")[0]
		case "silent":
			events = events[strings.Index(events, "\n")+1:]
			events = strings.ReplaceAll(events, "MODEL", "")
		case "failing":
			events = `{"error":{"message":"the plan is used up"}}`
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte(": keep-alive\n\n"))
		for line := range strings.Lines(strings.ReplaceAll(events, "MODEL", body.Model)) {
			w.Write([]byte("data: " + strings.TrimSpace(line) + "\n\n"))
		}
	}))
	t.Cleanup(server.Close)
	return server, &seen
}

func TestCheckCallsAsTheEditorWould(t *testing.T) {
	server, seen := fakePort(t)
	s := testSetup()
	s.BaseURL = server.URL + "/v1"
	path := map[dialect]string{chatCompletions: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages"}
	for _, e := range all() {
		t.Run(e.id, func(t *testing.T) {
			*seen = nil
			d := newDesk(t, nil)
			if e.targets != nil {
				if _, err := d.Check(t.Context(), server.Client(), e.id, s); err == nil {
					t.Error("no error before it is set up")
				}
				d.setUp(t, e.id, s)
			}
			answer, err := d.Check(t.Context(), server.Client(), e.id, s)
			if err != nil || answer.Text != "I am sonnet-4.5" {
				t.Errorf("%+v, %v", answer, err)
			}
			want := path[e.dialect] + " sonnet-4.5 Bearer local-key-1"
			if len(*seen) != 1 || (*seen)[0] != want {
				t.Errorf("asked for %v, want %s", *seen, want)
			}
		})
	}
}

// What stands in the file counts, not what it ought to be.
func TestCheckReadsTheFile(t *testing.T) {
	server, _ := fakePort(t)
	for _, test := range []struct{ name, from, to, want string }{
		{"another key", "local-key-1", "stale", "wrong key: see cursortray"},
		{"another model", "sonnet-4.5", "claude-x", "I am claude-x"},
		{"cut off", "sonnet-4.5", "cut", "broke off"},
		{"nothing said", "sonnet-4.5", "silent", "empty"},
		{"an error on the way", "sonnet-4.5", "failing", "the plan is used up"},
		{"taken out", "ANTHROPIC_AUTH_TOKEN", "X", "cursortray is not in the file"},
		{"broken", "}", "", "not valid JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := testSetup()
			s.BaseURL = server.URL + "/v1"
			d := newDesk(t, nil)
			d.setUp(t, "claude-code", s)
			d.write(t, claudeFile, strings.ReplaceAll(d.files(t)[claudeFile], test.from, test.to))
			answer, err := d.Check(t.Context(), server.Client(), "claude-code", s)
			got := answer.Text
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if strings.Contains(got, "stale") {
				t.Error("the key is in the error")
			}
		})
	}
}

func TestCheckWithoutAPort(t *testing.T) {
	server, _ := fakePort(t)
	s := testSetup()
	s.BaseURL = server.URL + "/v1"
	client := server.Client()
	server.Close()
	d := newDesk(t, nil)
	if _, err := d.Check(t.Context(), client, "other", s); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("%v", err)
	}
}
