package turn

import (
	"net/http"
	"strconv"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// ContextHeader tells, with an answer that is not streamed, how full the
// conversation's window is: "used=84250, max=200000, percent=42.1, stale".
const ContextHeader = "X-Cursortray-Context"

// RoutedHeader tells, with an answer that is not streamed, which model answered
// where the request left the choice to Cursor.
const RoutedHeader = "X-Cursortray-Routed-Model"

// AppendExtras appends the member that every dialect has in the last object of
// an answer, however it is sent:
//
//	"cursor":{"context":{"used_tokens":84250,"max_tokens":200000,"percent":42.1,
//	  "stale":false,"parts":[{"id":"tools","label":"Tools","tokens":9000}]},
//	  "routed_model":"Composer 2.5"}
//
// with a comma in front, or nothing if the upstream has never told any of it.
// max_tokens and percent are absent if the window is not known, parts if they
// are not. stale means that the figures are those of an earlier turn.
func AppendExtras(dst []byte, f *chat.Finish) []byte {
	if f.Context == nil && f.Routed == "" {
		return dst
	}
	dst = append(dst, `,"cursor":{`...)
	if f.Context != nil {
		dst = appendContext(append(dst, `"context":`...), f.Context)
	}
	if f.Routed != "" {
		if f.Context != nil {
			dst = append(dst, ',')
		}
		dst = wirejson.AppendString(append(dst, `"routed_model":`...), f.Routed)
	}
	return append(dst, '}')
}

func appendContext(dst []byte, c *chat.Context) []byte {
	dst = append(dst, `{"used_tokens":`...)
	dst = strconv.AppendInt(dst, int64(c.Used), 10)
	if c.Max > 0 {
		dst = append(dst, `,"max_tokens":`...)
		dst = strconv.AppendInt(dst, int64(c.Max), 10)
		dst = append(dst, `,"percent":`...)
		dst = appendPercent(dst, c)
	}
	dst = append(dst, `,"stale":`...)
	dst = strconv.AppendBool(dst, c.Stale)
	for i, part := range c.Parts {
		if i == 0 {
			dst = append(dst, `,"parts":[{"id":`...)
		} else {
			dst = append(dst, `,{"id":`...)
		}
		dst = wirejson.AppendString(dst, part.ID)
		dst = append(dst, `,"label":`...)
		dst = wirejson.AppendString(dst, part.Label)
		dst = append(dst, `,"tokens":`...)
		dst = strconv.AppendInt(dst, int64(part.Tokens), 10)
		dst = append(dst, '}')
	}
	if len(c.Parts) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendPercent appends how full the window is, with one decimal, half of one
// rounded up, from 0 to 100.
func appendPercent(dst []byte, c *chat.Context) []byte {
	used, whole := min(max(0, int64(c.Used)), 1e15), min(int64(c.Max), 1e15)
	tenths := min(1000, (used*2000+whole)/(2*whole))
	dst = strconv.AppendInt(dst, tenths/10, 10)
	if tenths%10 != 0 {
		dst = append(dst, '.', byte('0'+tenths%10))
	}
	return dst
}

// setExtras sets the headers.
func setExtras(h http.Header, f *chat.Finish) {
	if f.Routed != "" {
		h.Set(RoutedHeader, headerText(f.Routed))
	}
	c := f.Context
	if c == nil {
		return
	}
	text := strconv.AppendInt([]byte("used="), int64(c.Used), 10)
	if c.Max > 0 {
		text = strconv.AppendInt(append(text, ", max="...), int64(c.Max), 10)
		text = appendPercent(append(text, ", percent="...), c)
	}
	if c.Stale {
		text = append(text, ", stale"...)
	}
	h.Set(ContextHeader, string(text))
}

// headerText keeps what every client takes in a header.
func headerText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}
