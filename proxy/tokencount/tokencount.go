// Package tokencount tells how many tokens a request for a model is, without
// asking anybody. Two ways: a Counter uses a public vocabulary (cl100k_base,
// inside the program), an Estimator only looks at the kinds of characters and
// costs next to nothing. Cursor offers models of several makers, whose
// vocabularies are not public, so both are estimates; English text and code
// come out within some percent of what the makers report, other scripts
// somewhat high. It starts no goroutine.
package tokencount

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// Counter counts with a vocabulary, which is put together at first use (some
// 10 ms and 10 MB). Its methods may be called by any number of goroutines.
type Counter struct {
	vocabulary func() *codec.Codec
}

// New returns a Counter.
func New() *Counter {
	return &Counter{vocabulary: sync.OnceValue(codec.NewCl100kBase)}
}

// mostExact is how much text of one request is counted with the vocabulary,
// which takes about half a second. Texts beyond it are estimated.
const mostExact = 2 << 20

// Request counts a whole request.
func (c *Counter) Request(req *chat.Request) int {
	exact, left := 0, mostExact
	var rest Estimator
	extra := walk(req, func(text string) {
		if len(text) > left {
			rest.Add(text)
			return
		}
		left -= len(text)
		exact += c.Text(text)
	})
	return exact + rest.Tokens() + extra
}

// Text counts one text. It is cut into pieces, because the time for one long
// run of the same kind of character grows with the square of its length.
func (c *Counter) Text(text string) int {
	n := 0
	for text != "" {
		size := wirejson.PieceLength(text)
		// It fails for invalid UTF-8 only in a mode that is not in use.
		tokens, _ := c.vocabulary().Count(text[:size])
		n += tokens
		text = text[size:]
	}
	return n
}

// Estimate estimates a whole request.
func Estimate(req *chat.Request) int {
	var texts Estimator
	extra := walk(req, func(text string) {
		texts.Add(text)
		texts.Break()
	})
	return texts.Tokens() + extra
}
