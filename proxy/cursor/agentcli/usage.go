package agentcli

import (
	"strconv"

	"cursortray/proxy/chat"
)

// Names that builds have used for the same count, current one first.
var (
	usageInput      = []string{"inputTokens", "input_tokens", "prompt_tokens"}
	usageOutput     = []string{"outputTokens", "output_tokens", "completion_tokens"}
	usageCacheRead  = []string{"cacheReadTokens", "cache_read_tokens", "cached_input_tokens", "cache_read_input_tokens"}
	usageCacheWrite = []string{"cacheWriteTokens", "cache_write_tokens", "cache_creation_input_tokens"}
	usageReasoning  = []string{"reasoningTokens", "reasoning_tokens"}
)

// parseUsage reads the counts of a result line: those of its usage object,
// else those on the line itself. It returns nil when nothing was counted.
func parseUsage(result fields) *chat.Usage {
	for _, f := range []fields{result.object("usage"), result} {
		u := chat.Usage{
			Input:      f.count(usageInput),
			CacheRead:  f.count(usageCacheRead),
			CacheWrite: f.count(usageCacheWrite),
			Output:     f.count(usageOutput),
			Reasoning:  f.count(usageReasoning),
		}
		if u != (chat.Usage{}) {
			return &u
		}
	}
	return nil
}

// maxCount is far above any real count; a sum of five stays in range on every
// system.
const maxCount = 1 << 28

// count returns the first count above zero. Anything that is no whole number,
// or a negative or absurd one, counts as zero.
func (f fields) count(names []string) int {
	for _, name := range names {
		text := f.str(name)
		if f[name].isNumber() {
			text = string(f[name])
		}
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && n > 0 && n <= maxCount && n == float64(int(n)) && (f[name].isNumber() || isDigits(text)) {
			return int(n)
		}
	}
	return 0
}
