package editors

import (
	"strconv"

	"cursortray/app/confedit"
)

// Claude Code 2.1 takes a base URL without /v1. For an id it does not know it
// assumes a window of a million tokens and never compacts in time, so the
// window is told. A key of Anthropic's beside the token wins or warns: it is
// taken out and comes back with undo.
func claudeCode() editor {
	return editor{
		id: "claude-code", name: "Claude Code", commands: []string{"claude"},
		traces: func(e Env) []string { return []string{claudeHome(e), e.home(".claude.json")} },
		targets: func(e Env) []target {
			return []target{{variants: []variant{{
				path: e.join(claudeHome(e), "settings.json"), format: confedit.JSON, edits: claudeEdits,
				says: func(Setup) says {
					return says{
						base: confedit.Names("env", "ANTHROPIC_BASE_URL"), key: confedit.Names("env", "ANTHROPIC_AUTH_TOKEN"),
						model: confedit.Names("env", "ANTHROPIC_MODEL"),
					}
				},
			}}}}
		},
		steps: func(Setup) []string {
			return []string{"If ANTHROPIC_API_KEY is set in your shell, take it out: Claude Code would use it instead."}
		},
		dialect: messages,
	}
}

func claudeHome(e Env) string { return e.folder("CLAUDE_CONFIG_DIR", e.home(".claude")) }

func claudeEdits(s Setup) []edit {
	edits := []edit{
		set(nil, "apiKeyHelper"),
		set(nil, "env", "ANTHROPIC_API_KEY"),
		set(s.root(), "env", "ANTHROPIC_BASE_URL"),
		set(s.Key, "env", "ANTHROPIC_AUTH_TOKEN"),
		set(s.Model, "env", "ANTHROPIC_MODEL"),
		set(s.Small, "env", "ANTHROPIC_DEFAULT_HAIKU_MODEL"),
		// Its picker then lists what /v1/models offers.
		set("1", "env", "CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY"),
	}
	if m := s.model(s.Model); m.Context > 0 {
		edits = append(edits, set(strconv.Itoa(m.Context), "env", "CLAUDE_CODE_MAX_CONTEXT_TOKENS"))
	}
	return edits
}
