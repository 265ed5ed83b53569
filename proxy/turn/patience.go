package turn

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// ShouldRetryHeader with "false" tells the SDKs of both vendors not to try
// again by themselves, whatever the status: only the user can help, or a wait
// that nobody sits through, and the message should be seen at once.
const ShouldRetryHeader = "X-Should-Retry"

// LongestWait is how long people wait for a client that says nothing.
const LongestWait = time.Minute

// Repeats429 tells whether the client repeats any 429 for minutes, and says
// nothing meanwhile, whatever else the answer holds: what is made with the AI
// SDK, such as OpenCode, and Qwen Code (seen in versions of 2026). They are known
// by the names that they give themselves, and need another status for what does
// not pass soon.
func Repeats429(client http.Header) bool {
	agent := client.Get("User-Agent")
	return slices.ContainsFunc([]string{"ai-sdk/", "QwenCode/"}, func(name string) bool { return strings.Contains(agent, name) })
}
