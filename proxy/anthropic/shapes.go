package anthropic

import "cursortray/proxy/wirejson"

// What clients of 2025 and 2026 send in this dialect. Sampling settings are
// ignored because Cursor's models take none, cache marks because Cursor caches
// by itself. A member that is not listed is ignored as well: Claude Code
// answers a refusal by asking again and again with fewer features.
var (
	requestShape = wirejson.Shape{
		Read: []string{
			"model", "messages", "system", "max_tokens", "stream", "tools", "tool_choice", "thinking",
			"output_config", "output_format", "stop_sequences",
		},
		Ignored: []string{
			"metadata", "context_management", "safeguards", "service_tier", "temperature", "top_p", "top_k",
			"cache_control", "mcp_servers", "container", "betas", "inference_geo", "speed",
		},
	}
	messageShape = wirejson.Shape{Read: []string{"role", "content"}}
	blockShape   = wirejson.Shape{
		Read: []string{
			"type", "text", "source", "id", "name", "input", "tool_use_id", "content", "is_error", "thinking",
		},
		Ignored: []string{
			"cache_control", "citations", "signature", "data", "title", "context", "caller", "tool_name",
		},
	}
	sourceShape = wirejson.Shape{Read: []string{"type", "media_type", "data", "content"}, Ignored: []string{"url", "file_id"}}
	toolShape   = wirejson.Shape{
		Read: []string{"type", "name", "description", "input_schema", "defer_loading"},
		Ignored: []string{
			"cache_control", "strict", "eager_input_streaming", "input_examples", "allowed_callers",
		},
	}
	choiceShape       = wirejson.Shape{Read: []string{"type", "name", "disable_parallel_tool_use"}}
	thinkingShape     = wirejson.Shape{Read: []string{"type"}, Ignored: []string{"budget_tokens", "display"}}
	outputConfigShape = wirejson.Shape{Read: []string{"effort", "format"}, Ignored: []string{"task_budget"}}
	formatShape       = wirejson.Shape{Read: []string{"type", "schema"}, Ignored: []string{"name"}}
)
