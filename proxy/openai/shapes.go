package openai

import "slices"

// shape lists the members of one kind of object in a request: those that are
// read, and those that are known and of no use here. All others are ignored as
// well, but their names are logged once.
type shape struct {
	read, ignored []string
}

func (s *shape) knows(name string) bool {
	return slices.Contains(s.read, name) || slices.Contains(s.ignored, name)
}

// What clients of 2025 and 2026 send in chat completions. Sampling settings are
// ignored because Cursor's models take none.
var (
	chatShape = shape{
		read: []string{
			"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
			"reasoning_effort", "max_tokens", "max_completion_tokens", "stop", "response_format",
			"n", "logprobs", "modalities", "audio", "functions", "function_call",
		},
		ignored: []string{
			"temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "user", "store", "metadata",
			"top_logprobs", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "verbosity",
			"logit_bias", "prediction",
		},
	}
	streamOptionsShape = shape{read: []string{"include_usage"}, ignored: []string{"include_obfuscation"}}
	messageShape       = shape{
		read: []string{
			"role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal",
			"reasoning_content", "reasoning", "audio",
		},
		ignored: []string{"reasoning_details", "annotations"},
	}
	partShape           = shape{read: []string{"type", "text", "refusal", "image_url"}, ignored: []string{"cache_control"}}
	imageShape          = shape{read: []string{"url"}, ignored: []string{"detail"}}
	callShape           = shape{read: []string{"id", "type", "function"}, ignored: []string{"index"}}
	calledFunctionShape = shape{read: []string{"name", "arguments"}}
	toolShape           = shape{read: []string{"type", "function"}, ignored: []string{"cache_control"}}
	functionShape       = shape{read: []string{"name", "description", "parameters"}, ignored: []string{"strict"}}
	choiceShape         = shape{read: []string{"type", "function"}}
	chosenFunctionShape = shape{read: []string{"name"}}
	formatShape         = shape{read: []string{"type", "json_schema"}}
	jsonSchemaShape     = shape{read: []string{"schema"}, ignored: []string{"name", "description", "strict"}}
)
