package agentrpc

import (
	"encoding/json"
	"testing"

	"cursortray/proxy/chat"
)

func printOf(messages ...chat.Message) fingerprint {
	return fingerprints(messages)[len(messages)]
}

func TestFingerprintIgnoresForm(t *testing.T) {
	picture := chat.Image{MIME: "image/png", Data: []byte("p")}
	base := []chat.Message{
		said("hi", picture), answered("Sure.", called("a", "read", `{"path":"x","n":1}`), called("b", "read", "")), said(gave("a", "A"), gave("b", "B")), answered("done"),
	}
	for name, other := range map[string][]chat.Message{
		"other ids":         {base[0], answered("Sure.", called("1", "read", `{"path":"x","n":1}`), called("2", "read", "")), said(gave("1", "A"), gave("2", "B")), base[3]},
		"order of keys":     {base[0], answered("Sure.", called("a", "read", ` {"n":1, "path":"x"}`), called("b", "read", "{}")), base[2], base[3]},
		"reasoning":         {base[0], answered(chat.Reasoning{Text: "hm"}, "Sure.", called("a", "read", `{"path":"x","n":1}`), called("b", "read", "")), base[2], base[3]},
		"borders":           {said("hi"), said(picture), answered("Sure."), answered(called("a", "read", `{"path":"x","n":1}`), called("b", "read", "")), said(gave("a", "A")), said(gave("b", "B")), base[3]},
		"pieces of text":    {base[0], answered("Su", called("a", "read", `{"path":"x","n":1}`), "re.", called("b", "read", "")), base[2], base[3]},
		"space around it":   {base[0], answered("\nSure. ", called("a", "read", `{"path":"x","n":1}`), called("b", "read", "")), base[2], answered("done\n")},
		"empty texts":       {said("", "hi", picture), base[1], base[2], answered("done", "")},
		"an empty message":  {base[0], base[1], base[2], base[3], answered("")},
		"only its thoughts": {base[0], base[1], base[2], answered(chat.Reasoning{Text: "hm"}), base[3]},
	} {
		if printOf(other...) != printOf(base...) {
			t.Errorf("%s: another fingerprint", name)
		}
	}
}

func TestFingerprintTellsApart(t *testing.T) {
	seen := map[fingerprint]string{{}: "nothing"}
	failed := gave("a", "A")
	failed.Failed = true
	call := answered(called("a", "read", "{}"), called("b", "read", "{}"))
	for name, messages := range map[string][]chat.Message{
		"text":                {said("hi")},
		"another text":        {said("hi!")},
		"two texts":           {said("h", "i")},
		"of the assistant":    {answered("hi")},
		"two turns":           {said("hi"), answered("yes")},
		"another answer":      {said("hi"), answered("no")},
		"a call":              {answered(called("a", "read", `{"path":"x"}`))},
		"another tool":        {answered(called("a", "write", `{"path":"x"}`))},
		"other arguments":     {answered(called("a", "read", `{"path":"y"}`))},
		"broken arguments":    {answered(called("a", "read", `{"path":`))},
		"a name in arguments": {answered(called("a", "readread", "{}"))},
		"results":             {call, said(gave("a", "A"), gave("b", "B"))},
		"results exchanged":   {call, said(gave("b", "A"), gave("a", "B"))},
		"other order":         {call, said(gave("b", "B"), gave("a", "A"))},
		"a failure":           {call, said(failed, gave("b", "B"))},
		"no call":             {said(gave("a", "A"))},
		"an image":            {said(chat.Image{MIME: "image/png", Data: []byte("x")})},
		"another image":       {said(chat.Image{MIME: "image/png", Data: []byte("y")})},
		"another kind":        {said(chat.Image{MIME: "image/gif", Data: []byte("x")})},
		"image in a result":   {call, said(gave("a", chat.Image{MIME: "image/png", Data: []byte("x")}))},
		"inner space":         {said("a  b")},
		"inner space gone":    {said("a b")},
		"order":               {said("a"), said("b")},
		"order exchanged":     {said("b"), said("a")},
	} {
		print := printOf(messages...)
		if other, twice := seen[print]; twice {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[print] = name
	}
}

// TestSameBeginningsPart: two conversations that begin with the same words, and
// two histories of which one was edited or shortened, share fingerprints up to
// their first difference and none behind it.
func TestSameBeginningsPart(t *testing.T) {
	one := []chat.Message{said("hi"), answered("a"), said("go on"), answered("b"), said("more")}
	for name, c := range map[string]struct {
		other  []chat.Message
		shared int // messages
	}{
		"other answer":   {[]chat.Message{said("hi"), answered("x"), said("go on"), answered("b"), said("more")}, 1},
		"edited message": {[]chat.Message{said("hi"), answered("a"), said("stop"), answered("b"), said("more")}, 2},
		"shortened":      {[]chat.Message{said("summary of all"), said("more")}, 0},
		"middle is gone": {[]chat.Message{said("hi"), answered("b"), said("more")}, 1},
		"longer":         {append(one[:len(one):len(one)], answered("c"), said("d")), 5},
	} {
		a, b := fingerprints(one), fingerprints(c.other)
		for i := range min(len(a), len(b)) {
			if (a[i] == b[i]) != (i <= c.shared) {
				t.Errorf("%s: messages[:%d]: equal %v", name, i, a[i] == b[i])
			}
		}
	}
}

func TestFingerprintOfAnAnswer(t *testing.T) {
	asked := []chat.Message{said("hi")}
	expected := printOf(asked...).with(answered("Sure.", called("call_X_0", "read", `{"path":"x"}`)))
	if expected != printOf(asked[0], answered(called("call_X_0", "read", `{ "path": "x" }`), "Sure.\n")) {
		t.Error("the client's echo of an answer is not recognised")
	}
}

// decodedMessages makes a history of fuzzed JSON, as wild as clients can send.
func decodedMessages(data []byte) []chat.Message {
	var list []struct {
		Assistant, Failed      bool
		Text, Call, Args, Gave string
		ID                     string
		Image                  []byte
	}
	if json.Unmarshal(data, &list) != nil {
		return nil
	}
	var messages []chat.Message
	for _, entry := range list {
		m := chat.Message{}
		if entry.Assistant {
			m.Role = chat.Assistant
		}
		m.Parts = append(m.Parts, chat.Text{Text: entry.Text})
		if entry.Call != "" {
			m.Parts = append(m.Parts, chat.ToolUse{ID: entry.ID, Name: entry.Call, Arguments: entry.Args})
		}
		if entry.Gave != "" {
			m.Parts = append(m.Parts, chat.ToolResult{CallID: entry.ID, Failed: entry.Failed, Content: []chat.Part{chat.Text{Text: entry.Gave}}})
		}
		if entry.Image != nil {
			m.Parts = append(m.Parts, chat.Image{MIME: "image/png", Data: entry.Image})
		}
		messages = append(messages, m)
	}
	return messages
}

func seedHistories(f *testing.F) {
	f.Add([]byte(`[{"text":"hi"},{"assistant":true,"text":"a","call":"read","args":"{\"a\":1}","id":"x"},{"gave":"ok","id":"x"},{"assistant":true,"text":"done"}]`))
	f.Add([]byte(`[{"assistant":true,"call":"a","id":"1"},{"assistant":true,"call":"b","id":"1"},{"gave":"r","id":"1","failed":true},{"gave":"r","id":"2"},{"image":"AAAA"}]`))
}

func FuzzFingerprint(f *testing.F) {
	seedHistories(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		messages := decodedMessages(data)
		all := fingerprints(messages)
		if len(all) != len(messages)+1 || all[0] != (fingerprint{}) {
			t.Fatalf("%d fingerprints for %d messages", len(all), len(messages))
		}
		for i, again := range fingerprints(messages) {
			if all[i] != again {
				t.Fatal("not the same twice")
			}
		}
		for i := range messages {
			if printOf(messages[:i]...) != all[i] {
				t.Fatalf("a beginning of %d messages has another fingerprint", i)
			}
		}
		longer := append(messages[:len(messages):len(messages)], said("one more"))
		if printOf(longer...) == all[len(messages)] {
			t.Fatal("a longer history has the same fingerprint")
		}
	})
}
