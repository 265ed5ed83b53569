package openai

import (
	"net/http"
	"slices"
	"strings"
)

// What some clients of the Responses dialect cannot do with answers that suit
// the others. They are known by the names that they give themselves.

// repeats429 tells whether the client repeats any 429 for minutes, whatever its
// code: the npm SDKs, with which pi, OpenCode and Copilot's command line are
// made, and Qwen Code (seen in versions of 2026).
func repeats429(client http.Header) bool { return named(client, "OpenAI/", "ai-sdk/", "QwenCode/") }

// needsUsage tells whether the client does not understand the end of a response
// without usage. Older versions of the AI SDK pass over that event; OpenCode,
// which has one inside (1.18), then asks again and again, without end.
func needsUsage(client http.Header) bool { return named(client, "ai-sdk/") }

func named(client http.Header, names ...string) bool {
	agent := client.Get("User-Agent")
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(agent, name) })
}
