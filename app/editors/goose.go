package editors

import "cursortray/app/confedit"

// gooseKey is the name under which Goose looks the key up: in the environment
// or its own secrets. Keys in its files are ignored. CURSORTRAY_API_KEY is
// another one: it sets cursortray's main key.
const gooseKey = "CURSORTRAY_GOOSE_KEY"

// Goose reads each provider from a file of its own. Its base_url is split into
// host and path; the full address works in old and new versions (from its
// source, not run).
func goose() editor {
	return editor{
		id: "goose", name: "Goose", commands: []string{"goose"},
		traces: func(e Env) []string { return []string{gooseFolder(e), "/Applications/Goose.app"} },
		targets: func(e Env) []target {
			return []target{{variants: []variant{{
				path: e.join(gooseFolder(e), "custom_providers", provider+".json"), format: confedit.JSON, edits: gooseEdits, whole: true,
				says: func(Setup) says { return says{base: confedit.Names("base_url")} },
			}}}}
		},
		steps: func(s Setup) []string {
			return []string{
				"Run “goose configure”, choose Configure Providers, then " + provider + ", and paste this key: " + s.Key,
				"Or set the variables below.",
			}
		},
		vars: func(s Setup) []Var {
			vars := []Var{{gooseKey, s.Key}}
			if !s.KeepChoice {
				vars = append(vars, Var{"GOOSE_PROVIDER", provider}, Var{"GOOSE_MODEL", s.Model})
			}
			return vars
		},
		dialect: chatCompletions,
	}
}

func gooseFolder(e Env) string {
	if e.OS == Windows {
		return e.appConfig("Block", "goose", "config")
	}
	return e.dotConfig("goose")
}

func gooseEdits(s Setup) []edit {
	var models []confedit.Map
	for _, m := range s.Models {
		window := m.Context
		if window == 0 {
			window = 128000 // it must be there
		}
		models = append(models, confedit.Map{{Name: "name", Value: m.ID}, {Name: "context_limit", Value: window}})
	}
	return []edit{
		set(provider, "name"),
		set("openai", "engine"),
		set(provider, "display_name"),
		set("Cursor's models through cursortray", "description"),
		set(gooseKey, "api_key_env"),
		set(s.BaseURL+"/chat/completions", "base_url"),
		set(confedit.Keyed{By: "name", Items: models}, "models"),
		set(true, "supports_streaming"),
	}
}
