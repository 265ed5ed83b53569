package editors

// GitHub's Copilot CLI 1.0 takes an own endpoint from the environment only:
// measured.
func copilotCLI() editor {
	return editor{
		id: "copilot-cli", name: "GitHub Copilot CLI", commands: []string{"copilot"},
		traces: func(e Env) []string { return []string{e.home(".copilot")} },
		vars: func(s Setup) []Var {
			return []Var{
				{"COPILOT_PROVIDER_BASE_URL", s.BaseURL},
				{"COPILOT_PROVIDER_API_KEY", s.Key},
				{"COPILOT_MODEL", s.Model},
				{"COPILOT_OFFLINE", "true"}, // keeps it off GitHub's servers
			}
		},
		dialect: chatCompletions,
	}
}
