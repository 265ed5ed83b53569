package agentcli

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		in   string
		want *chat.Usage
	}{
		{`{}`, nil},
		{`{"usage":null}`, nil},
		{`{"usage":{"inputTokens":0}}`, nil},
		{`{"usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4,"reasoningTokens":5}}`, &chat.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5}},
		{`{"usage":{"prompt_tokens":1,"completion_tokens":2,"cache_read_input_tokens":3,"cache_write_tokens":4}}`, &chat.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}},
		{`{"usage":{"inputTokens":1},"inputTokens":9,"outputTokens":9}`, &chat.Usage{Input: 1}},
		{`{"usage":{"inputTokens":0},"input_tokens":"7"}`, &chat.Usage{Input: 7}},
		{`{"usage":{"inputTokens":-1,"outputTokens":true,"cacheReadTokens":"x","cacheWriteTokens":1.5,"reasoning_tokens":1e99}}`, nil},
		{`{"usage":{"inputTokens":"-1","outputTokens":"1e3","cacheReadTokens":{},"cacheWriteTokens":[1],"reasoning_tokens":null}}`, nil},
		{`{"usage":{"inputTokens":2e3,"outputTokens":5.0}}`, &chat.Usage{Input: 2000, Output: 5}},
		{`{"usage":[1,2]}`, nil},
	} {
		if diff := cmp.Diff(c.want, parseUsage(raw(c.in).object())); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
	}
}

func FuzzUsage(f *testing.F) {
	f.Add(`{"usage":{"inputTokens":1,"output_tokens":"2"},"cacheReadTokens":1e3}`)
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return
		}
		u := parseUsage(raw(in).object())
		if u == nil {
			return
		}
		for _, n := range []int{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
			if n < 0 || n > maxCount {
				t.Fatalf("%s: %+v", in, u)
			}
		}
		if *u == (chat.Usage{}) {
			t.Fatal("zeros are no usage")
		}
	})
}
