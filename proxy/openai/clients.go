package openai

import (
	"net/http"
	"strings"

	"cursortray/proxy/turn"
)

// repeats429 tells whether the client repeats any 429 for minutes and says
// nothing meanwhile. Agents that are made with this dialect's npm SDK do so
// themselves where the SDK obeys: pi, Continue's and Copilot's command lines.
func repeats429(client http.Header) bool {
	return turn.Repeats429(client) || client.Get("X-Stainless-Lang") == "js"
}

// needsUsage tells whether the client does not understand the end of a response
// without usage. Older versions of the AI SDK pass over that event; OpenCode,
// which has one inside (1.18), then asks again and again, without end.
func needsUsage(client http.Header) bool {
	return strings.Contains(client.Get("User-Agent"), "ai-sdk/")
}
