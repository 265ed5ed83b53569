package openai

import "cursortray/proxy/wirejson"

// What clients of 2025 and 2026 send in chat completions. Sampling settings are
// ignored because Cursor's models take none.
var (
	chatShape = wirejson.Shape{
		Read: []string{
			"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
			"reasoning_effort", "max_tokens", "max_completion_tokens", "stop", "response_format",
			"n", "logprobs", "modalities", "audio", "functions", "function_call",
		},
		Ignored: []string{
			"temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "user", "store", "metadata",
			"top_logprobs", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "verbosity",
			"logit_bias", "prediction",
		},
	}
	streamOptionsShape = wirejson.Shape{Read: []string{"include_usage"}, Ignored: []string{"include_obfuscation"}}
	messageShape       = wirejson.Shape{
		Read: []string{
			"role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal",
			"reasoning_content", "reasoning", "audio",
		},
		Ignored: []string{"reasoning_details", "annotations"},
	}
	partShape           = wirejson.Shape{Read: []string{"type", "text", "refusal", "image_url"}, Ignored: []string{"cache_control"}}
	imageShape          = wirejson.Shape{Read: []string{"url"}, Ignored: []string{"detail"}}
	callShape           = wirejson.Shape{Read: []string{"id", "type", "function"}, Ignored: []string{"index"}}
	calledFunctionShape = wirejson.Shape{Read: []string{"name", "arguments"}}
	toolShape           = wirejson.Shape{Read: []string{"type", "function"}, Ignored: []string{"cache_control"}}
	functionShape       = wirejson.Shape{Read: []string{"name", "description", "parameters"}, Ignored: []string{"strict"}}
	choiceShape         = wirejson.Shape{Read: []string{"type", "function"}}
	chosenFunctionShape = wirejson.Shape{Read: []string{"name"}}
	formatShape         = wirejson.Shape{Read: []string{"type", "json_schema"}}
	jsonSchemaShape     = wirejson.Shape{Read: []string{"schema"}, Ignored: []string{"name", "description", "strict"}}
)
