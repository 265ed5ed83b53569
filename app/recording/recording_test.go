package recording

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// Each of these is something private that stands in the requests below.
var private = []string{
	"otter", "4111111111111111", "ct-secret-key", "secret-plan", "zoltan", "aGVsbG8gd29ybGQ", "sing", "melody", "tune",
}

// bodies are requests of the three dialects with something private at every
// place that has room for it.
var bodies = map[string]string{
	"/v1/chat/completions": `{"model":"auto","stream":true,"user":"Zoltan","temperature":0.5,"stop":["otter"],
		"messages":[{"role":"system","content":"You are an otter"},
		{"role":"user","name":"Zoltan","content":[{"type":"text","text":"sing, otter"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8gd29ybGQ="}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"secret-plan.txt\"}"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"the otter's melody"}],
		"tools":[{"type":"function","function":{"name":"read_file","description":"reads the otter","parameters":{"type":"object","required":["path"],"properties":{"path":{"type":"string","enum":["secret-plan.txt"]}}}}}],
		"metadata":{"secret-plan.txt":"x","card":4111111111111111}}`,
	"/v1/responses": `{"model":"auto","instructions":"otter","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"sing"}]},
		{"type":"function_call","call_id":"c1","name":"read_file","arguments":"{\"path\":\"secret-plan.txt\"}"},
		{"type":"function_call_output","call_id":"c1","output":"melody"}],"store":false}`,
	"/v1/messages": `{"model":"auto","max_tokens":100,"system":[{"type":"text","text":"otter","cache_control":{"type":"ephemeral"}}],
		"messages":[{"role":"user","content":"sing"},{"role":"assistant","content":[{"type":"thinking","thinking":"melody","signature":"tune"},
		{"type":"tool_use","id":"t1","name":"read_file","input":{"path":"secret-plan.txt","number":4111111111111111,"secret-plan.txt":true}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"otter"}]}]}`,
	"/responses":        `{"model":"auto","input":"sing, otter"}`,
	"/chat/completions": `sing, otter, this is no JSON`,
	"/messages":         `{"text":"sing","the otter sings":{"model":"an otter"},"type":"an otter sings"}`,
}

// record sends one request and returns what was written about it.
func record(t *testing.T, path, body string, handler http.HandlerFunc) (recorded, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "state", "recordings")
	r := New(Config{Folder: folder, Version: "9.9", Mask: func(text []byte) []byte {
		return []byte(strings.ReplaceAll(string(text), "known-to-the-process", "[secret]"))
	}})
	done := make(chan string, 1)
	r.Arm(func(path string, err error) {
		if err != nil {
			t.Error(err)
		}
		done <- path
	})
	handle := r.Wrap(handler)
	for _, other := range []*http.Request{httptest.NewRequest("GET", "/v1/models", nil), httptest.NewRequest("POST", "/v1/messages/count_tokens", nil)} {
		r.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(httptest.NewRecorder(), other)
	}
	req := httptest.NewRequest("POST", path+"?beta=true&token=otter", strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer ct-secret-key")
	req.Header.Set("X-Api-Key", "ct-secret-key")
	req.Header.Set("X-Cursortray-Workspace", "/home/zoltan")
	req.Header.Set("User-Agent", "client/1.0")
	rec := httptest.NewRecorder()
	func() {
		defer func() { _ = recover() }()
		handle.ServeHTTP(rec, req)
	}()
	file := <-done
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' || filepath.Dir(file) != folder {
		t.Errorf("%s: %v, %v", file, info, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc recorded
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	// It was the one.
	handle.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", path, strings.NewReader("{}")))
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Errorf("%d recordings, %v; want one", len(files), err)
	}
	return doc, string(text)
}

// SE-2: nothing of what is said, and no key, is in a recording; how the request
// is built is.
func TestSE2_RecordingTellsNothingPrivate(t *testing.T) {
	for path, body := range bodies {
		t.Run(path, func(t *testing.T) {
			doc, text := record(t, path, body, func(w http.ResponseWriter, r *http.Request) {
				got, err := io.ReadAll(r.Body)
				if err != nil || string(got) != body && string(got) != "{}" {
					t.Errorf("the handler got %q, %v", got, err)
				}
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				w.Header().Set("Set-Cookie", "ct-secret-key")
				io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"id\":\"msg_known-to-the-process\"}\n\n")
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"the otter sings\"},\"index\":0}]}\n\n: keep-alive\n\n: otter\n\n")
				io.WriteString(w, "data: otter\n\ndata: [DONE]\n\n")
			})
			for _, word := range private {
				if strings.Contains(strings.ToLower(text), strings.ToLower(word)) && !strings.Contains(path, word) {
					t.Errorf("%q is in\n%s", word, text)
				}
			}
			if strings.Contains(text, "known-to-the-process") {
				t.Error("a secret that the process knows is in it")
			}
			if doc.Request.Path != path || doc.Request.Bytes != int64(len(body)) || doc.Request.Headers["user-agent"][0] != "client/1.0" ||
				doc.Request.Query["beta"][0] != "true" || doc.Answer.Status != 200 || len(doc.Answer.Events) != 6 {
				t.Errorf("%+v", doc)
			}
			if e := doc.Answer.Events; e[0].Event != "message_start" || e[2].Comment != "keep-alive" || string(e[5].Data) != `"[DONE]"` {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestStructureStays(t *testing.T) {
	doc, _ := record(t, "/v1/chat/completions", bodies["/v1/chat/completions"], func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"error":{"message":"the otter sings","type":"not_logged_in","code":"login_required","param":null}}`)
	})
	hash := regexp.MustCompile(`#[0-9a-f]{8}`)
	body := hash.ReplaceAllString(string(doc.Request.Body), "#")
	for _, want := range []string{
		`"model":"auto"`, `"stream":true`, `"temperature":0.5`, `"role":"system"`, `"content":null`, `"id":"call_1"`, `"name":"read_file"`,
		`"content":"[text: 16 characters, 16 bytes, #]"`, `"arguments":"[text: 26 characters, 26 bytes, #]"`, `"type":"image_url"`,
		`"required":["path"]`, `"card":0`, `"properties":{"path":{"type":"string","enum":["[text: 15 characters, 15 bytes, #]"]}}`,
	} {
		if !strings.Contains(compact(t, body), want) {
			t.Errorf("%s is not in\n%s", want, body)
		}
	}
	if got := hash.ReplaceAllString(compact(t, string(doc.Answer.Body)), "#"); doc.Answer.Status != 403 ||
		got != `{"error":{"message":"[text: 15 characters, 15 bytes, #]","type":"not_logged_in","code":"login_required","param":null}}` {
		t.Errorf("%d %s", doc.Answer.Status, got)
	}
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var value json.RawMessage = []byte(text)
	short, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(short)
}

// The back-end's events are there by kind and size, and the same text twice is
// seen to be the same.
func TestBackendEvents(t *testing.T) {
	doc, text := record(t, "/v1/responses", `{"input":"otter","instructions":"otter"}`, func(w http.ResponseWriter, r *http.Request) {
		note := New(Config{}).Events(r.Context())
		if note == nil { // the request after it
			return
		}
		note(chat.ReasoningDelta{Text: "an otter"}, nil)
		note(chat.TextDelta{Text: "sings"}, nil)
		note(chat.ToolCall{ID: "1", Name: "read_file", Arguments: json.RawMessage(`{"p":1}`)}, nil)
		note(nil, &chat.Error{Kind: chat.QuotaSpent, Code: "usage_limit", Message: "the otter has sung enough"})
		io.Copy(io.Discard, r.Body)
		panic("the test breaks it")
	})
	var got []string
	for _, e := range doc.Backend {
		got = append(got, fmt.Sprint(e.Event, " ", e.Bytes, " ", e.Detail))
	}
	want := "reasoning 8 ,text 5 ,tool call 7 read_file,error 0 " + chat.QuotaSpent.String() + " usage_limit"
	if strings.Join(got, ",") != want {
		t.Errorf("%q, want %q", strings.Join(got, ","), want)
	}
	if !doc.Panicked || strings.Contains(text, "otter") {
		t.Errorf("%s", text)
	}
	marks := regexp.MustCompile(`\[text: 5 characters[^\]]*\]`).FindAllString(string(doc.Request.Body), -1)
	if len(marks) != 2 || marks[0] != marks[1] {
		t.Errorf("%q", marks)
	}
	if New(Config{}).Events(context.Background()) != nil {
		t.Error("events are taken without a recording")
	}
}

func TestArmDisarm(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "x")
	r := New(Config{Folder: folder})
	ask := func() {
		r.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/messages", strings.NewReader("{}")))
	}
	r.Arm(func(string, error) { t.Error("it was recorded") })
	r.Disarm()
	ask()
	if _, err := os.Stat(folder); err == nil {
		t.Error("a folder was made for nothing")
	}
	// More than are kept.
	for range maxKept + 3 {
		r.Arm(func(_ string, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		ask()
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != maxKept {
		t.Errorf("%d files, %v", len(files), err)
	}
	// A folder that cannot be.
	if err := os.WriteFile(folder+"-file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := New(Config{Folder: filepath.Join(folder+"-file", "x")})
	var failed error
	broken.Arm(func(_ string, err error) { failed = err })
	broken.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).
		ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/messages", strings.NewReader("{}")))
	if failed == nil {
		t.Error("no error")
	}
}

func TestLongBodiesAreCut(t *testing.T) {
	doc, _ := record(t, "/v1/messages", "{}", func(w http.ResponseWriter, _ *http.Request) {
		for range 10 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				t.Error(err)
			}
		}
	})
	if !doc.Answer.Cut || doc.Answer.Bytes != 10<<20 {
		t.Errorf("%+v", doc.Answer)
	}
}

// Whatever a body is, what comes out is one JSON value, and texts of some
// length are gone.
func FuzzRedact(f *testing.F) {
	for _, body := range bodies {
		f.Add(body)
	}
	f.Add(strings.Repeat("[", 300) + strings.Repeat("]", 300))
	f.Add(`{"a":1}{"b":2}`)
	f.Fuzz(func(t *testing.T, body string) {
		r := redactor{[]byte("salt")}
		out := r.json([]byte(body))
		if !json.Valid(out) {
			t.Fatalf("%q became %q", body, out)
		}
		var text string
		if json.Unmarshal([]byte(body), &text) == nil && len(text) > 3 && strings.Contains(string(out), text) && !strings.Contains("[text: characters, bytes, #]", text) {
			t.Errorf("%q became %s", body, out)
		}
	})
}
