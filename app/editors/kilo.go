package editors

// kiloCLI is a fork of OpenCode and reads the same provider block.
func kiloCLI() editor {
	return editor{
		id: "kilo-cli", name: "Kilo CLI", commands: []string{"kilo", "kilocode"},
		traces: func(e Env) []string { return []string{e.dotConfig("kilo")} },
		targets: func(e Env) []target {
			return openCodeFiles(e.dotConfig("kilo"), e, "https://app.kilo.ai/config.json", "kilo.jsonc", "kilo.json")
		},
		dialect: chatCompletions,
	}
}

func kilo() editor {
	return editor{
		id: "kilo", name: "Kilo Code (VS Code)",
		traces:  func(e Env) []string { return e.extension("kilocode.kilo-code") },
		steps:   func(s Setup) []string { return extensionSteps("Kilo Code", s) },
		dialect: chatCompletions,
	}
}
