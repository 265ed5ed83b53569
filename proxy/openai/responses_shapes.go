package openai

import "cursortray/proxy/wirejson"

// What clients of 2025 and 2026 send in Responses: Codex, Copilot CLI, pi and
// the SDKs.
var (
	responsesShape = wirejson.Shape{
		Read: []string{
			"model", "input", "instructions", "stream", "tools", "tool_choice", "parallel_tool_calls", "reasoning",
			"max_output_tokens", "text", "include", "prompt_cache_key",
			"previous_response_id", "conversation", "prompt", "background",
		},
		Ignored: []string{
			"store", "metadata", "client_metadata", "service_tier", "truncation", "temperature", "top_p", "top_logprobs", "user",
			"safety_identifier", "stream_options", "prompt_cache_retention", "max_tool_calls",
		},
	}
	reasoningShape      = wirejson.Shape{Read: []string{"effort"}, Ignored: []string{"summary", "generate_summary"}}
	textShape           = wirejson.Shape{Read: []string{"format"}, Ignored: []string{"verbosity"}}
	responseFormatShape = wirejson.Shape{Read: []string{"type", "schema"}, Ignored: []string{"name", "description", "strict"}}
	inputItemShape      = wirejson.Shape{
		Read: []string{
			"type", "id", "role", "content", "call_id", "name", "namespace", "arguments", "input", "output", "summary", "action",
		},
		Ignored: []string{"status", "encrypted_content", "phase"},
	}
	inputPartShape    = wirejson.Shape{Read: []string{"type", "text", "refusal", "image_url"}, Ignored: []string{"detail", "annotations", "logprobs"}}
	declaredToolShape = wirejson.Shape{
		Read:    []string{"type", "name", "description", "parameters", "format", "tools"},
		Ignored: []string{"strict", "defer_loading", "external_web_access", "search_context_size", "user_location", "filters"},
	}
	toolFormatShape     = wirejson.Shape{Read: []string{"type", "syntax", "definition"}}
	responseChoiceShape = wirejson.Shape{Read: []string{"type", "name", "namespace", "mode", "tools"}}
)
