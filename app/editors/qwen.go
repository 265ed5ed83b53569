package editors

import "cursortray/app/confedit"

// Qwen Code 0.24 takes the connection from its .env and the way to log in from
// its settings: measured.
func qwenCode() editor {
	return editor{
		id: "qwen-code", name: "Qwen Code", commands: []string{"qwen"},
		traces: func(e Env) []string { return []string{e.home(".qwen")} },
		targets: func(e Env) []target {
			return []target{
				{variants: []variant{{path: e.home(".qwen", ".env"), format: confedit.Dotenv, edits: qwenEnv, says: func(Setup) says {
					return says{base: confedit.Names("OPENAI_BASE_URL"), key: confedit.Names("OPENAI_API_KEY"), model: confedit.Names("OPENAI_MODEL")}
				}}}},
				{variants: []variant{{path: e.home(".qwen", "settings.json"), format: confedit.JSON, edits: func(Setup) []edit {
					return []edit{set("openai", "security", "auth", "selectedType")}
				}}}},
			}
		},
		dialect: chatCompletions,
	}
}

func qwenEnv(s Setup) []edit {
	return []edit{
		set(s.BaseURL, "OPENAI_BASE_URL"),
		set(s.Key, "OPENAI_API_KEY"),
		set(s.Model, "OPENAI_MODEL"),
	}
}
