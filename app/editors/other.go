package editors

// other is any program with an OpenAI or Anthropic client.
func other() editor {
	return editor{
		id: "other", name: "Another editor or SDK",
		steps: func(s Setup) []string {
			return []string{
				"OpenAI-compatible base URL: " + s.BaseURL,
				"Anthropic-compatible base URL: " + s.root(),
				"API key: " + s.Key,
				"Model: " + s.Model + " (all: GET " + s.BaseURL + "/models)",
				"Many programs take these from the variables below.",
			}
		},
		vars: func(s Setup) []Var {
			return []Var{
				{"OPENAI_BASE_URL", s.BaseURL},
				{"OPENAI_API_KEY", s.Key},
				{"ANTHROPIC_BASE_URL", s.root()},
				{"ANTHROPIC_AUTH_TOKEN", s.Key},
			}
		},
		dialect: chatCompletions,
	}
}
