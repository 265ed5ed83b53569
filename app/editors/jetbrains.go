package editors

// JetBrains' AI Assistant is set up in its dialog only.
func jetBrains() editor {
	return editor{
		id: "jetbrains", name: "JetBrains AI Assistant",
		traces: func(e Env) []string { return []string{e.appConfig("JetBrains")} },
		steps: func(s Setup) []string {
			return []string{
				"Open Settings > Tools > AI Assistant > Providers & API keys (in older versions: Models & API Keys).",
				"Under third-party providers choose “OpenAI-compatible”.",
				"URL: " + s.BaseURL,
				"API key: " + s.Key,
				"Switch tool calling on, press “Test Connection” and choose " + s.Model + ".",
			}
		},
		dialect: chatCompletions,
	}
}
