package tokencount

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"sync"
	"testing"

	"cursortray/proxy/chat"
)

const (
	prose = `The proxy checks the local key and hands the request to the front-end of its dialect. That turns the body into a request for a model, or refuses it with an error that the client's user can read. Nothing is answered before the whole body has arrived.
`
	source = `func (s *Server) hasKey(r *http.Request) (bool, *chat.Error) {
	for _, key := range keysOf(r.Header) {
		ok, err := s.cfg.Authorize(r.Context(), key)
		if err != nil {
			return false, chat.AsError(err)
		}
	}
	return true, nil
}
`
	data = `{"type":"object","properties":{"file_path":{"type":"string","description":"The absolute path of the file"},"limit":{"type":"integer","minimum":1}},"required":["file_path"]}`
)

var samples = map[string]string{
	"prose": prose, "source": source, "data": data,
	"numbers":  "2026-11-30 08:32:03 1234567 0.000025 192.168.0.1\n",
	"accents":  "Ça c'est une phrase française avec des accents élégants, écrite à l'été.\n",
	"cyrillic": "Это обычный русский текст, чтобы проверить подсчёт.\n",
	"japanese": "日本語の文章は、漢字とひらがなでできています。今日は天気がいいですね。\n",
}

func TestCounterKnowsTheVocabulary(t *testing.T) {
	c := New()
	// Counts of the vocabulary's publisher.
	for text, want := range map[string]int{
		"": 0, "hello world": 2, "tiktoken is great!": 6, "antidisestablishmentarianism": 6, "2 + 2 = 4": 7, "お誕生日おめでとう": 9,
	} {
		if got := c.Text(text); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
}

func TestEstimateIsNearTheCount(t *testing.T) {
	c := New()
	for name, text := range samples {
		text = strings.Repeat(text, 20)
		var e Estimator
		e.Add(text)
		if got, want := float64(e.Tokens()), float64(c.Text(text)); got < 0.75*want || got > 1.4*want {
			t.Errorf("%s: estimated %v, counted %v", name, got, want)
		}
	}
}

func TestEstimateOfPiecesIsThatOfTheWhole(t *testing.T) {
	for name, text := range samples {
		var whole, pieces Estimator
		whole.Add(text)
		for _, r := range text {
			pieces.Add(string(r))
		}
		if whole.Tokens() != pieces.Tokens() {
			t.Errorf("%s: %d whole, %d in pieces", name, whole.Tokens(), pieces.Tokens())
		}
	}
}

func request() *chat.Request {
	return &chat.Request{
		System: prose,
		Tools:  []chat.Tool{{Name: "read", Description: prose, Schema: json.RawMessage(data)}, {Name: "bare"}},
		Format: chat.Format{JSON: true, Schema: json.RawMessage(data)},
		Messages: []chat.Message{
			{Role: chat.User, Parts: []chat.Part{chat.Text{Text: prose}, chat.Image{MIME: "image/webp", Data: []byte("?")}}},
			{Role: chat.Assistant, Parts: []chat.Part{chat.Reasoning{Text: prose}, chat.ToolUse{ID: "c", Name: "read", Arguments: data}}},
			{Role: chat.User, Parts: []chat.Part{chat.ToolResult{CallID: "c", Content: []chat.Part{chat.Text{Text: source}}}}},
		},
	}
}

// Every part of a request counts.
func TestRequestCountsEverything(t *testing.T) {
	ways := map[string]func(*chat.Request) int{"count": New().Request, "estimate": Estimate}
	less := map[string]func(*chat.Request){
		"system":      func(r *chat.Request) { r.System = "" },
		"tool":        func(r *chat.Request) { r.Tools = r.Tools[:1] },
		"description": func(r *chat.Request) { r.Tools[0].Description = "" },
		"schema":      func(r *chat.Request) { r.Tools[0].Schema = nil },
		"format":      func(r *chat.Request) { r.Format = chat.Format{} },
		"message":     func(r *chat.Request) { r.Messages = r.Messages[:2] },
		"picture":     func(r *chat.Request) { r.Messages[0].Parts = r.Messages[0].Parts[:1] },
		"reasoning":   func(r *chat.Request) { r.Messages[1].Parts = r.Messages[1].Parts[1:] },
		"call":        func(r *chat.Request) { r.Messages[1].Parts = r.Messages[1].Parts[:1] },
		"result": func(r *chat.Request) {
			r.Messages[2].Parts = []chat.Part{chat.ToolResult{CallID: "c"}}
		},
	}
	for way, count := range ways {
		all := count(request())
		for name, drop := range less {
			req := request()
			drop(req)
			if n := count(req); n >= all || n <= 0 {
				t.Errorf("%s: %d tokens without the %s, %d with it", way, n, name, all)
			}
		}
	}
}

func TestPictures(t *testing.T) {
	frame := func(w, h int) image.Image {
		return image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black})
	}
	encode := map[string]func(*bytes.Buffer, image.Image) error{
		"image/png":  func(b *bytes.Buffer, i image.Image) error { return png.Encode(b, i) },
		"image/jpeg": func(b *bytes.Buffer, i image.Image) error { return jpeg.Encode(b, i, nil) },
		"image/gif":  func(b *bytes.Buffer, i image.Image) error { return gif.Encode(b, i, nil) },
	}
	for mime, encode := range encode {
		for size, want := range map[int]int{10: 1, 300: 121, 1200: mostPerPicture} {
			var data bytes.Buffer
			if err := encode(&data, frame(size, size)); err != nil {
				t.Fatal(err)
			}
			if got := picture(chat.Image{MIME: mime, Data: data.Bytes()}); got != want {
				t.Errorf("%s of %d: %d tokens, want %d", mime, size, got, want)
			}
		}
		if got := picture(chat.Image{MIME: mime, Data: []byte("broken")}); got != mostPerPicture {
			t.Errorf("a broken %s: %d tokens", mime, got)
		}
	}
}

// A hostile text costs time in proportion to its length.
func TestLongRuns(t *testing.T) {
	c := New()
	for _, unit := range []string{" ", "a", "\n", "日", "!", "\xff"} {
		if n := c.Text(strings.Repeat(unit, 30_000)); n < 100 {
			t.Errorf("%q: %d tokens", unit, n)
		}
	}
	huge := request()
	huge.System = strings.Repeat("word ", 2_000_000)
	if n := c.Request(huge); n < 1_500_000 || n > 3_000_000 {
		t.Errorf("%d tokens", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	c := New()
	want := New().Request(request())
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if got := c.Request(request()); got != want {
				t.Errorf("%d tokens, want %d", got, want)
			}
		})
	}
	wg.Wait()
}

func FuzzText(f *testing.F) {
	c := New()
	for _, text := range samples {
		f.Add(text)
	}
	f.Add("<|endoftext|>\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		var e Estimator
		e.Add(text)
		exact, estimate := c.Text(text), e.Tokens()
		if exact < 0 || estimate < 0 || exact > len(text) || estimate > 3*len(text)+1 {
			t.Errorf("%q: counted %d, estimated %d", text, exact, estimate)
		}
	})
}
