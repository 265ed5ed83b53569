package editors

import "cursortray/app/confedit"

// Zed keeps keys in the system's keychain and reads none from its file, so the
// user pastes it once (from its documentation and source, not run). The variable
// that it reads instead is named after the provider, CURSORTRAY_API_KEY, and so
// is the one that sets cursortray's main key: nobody is told to set it.
func zed() editor {
	return editor{
		id: "zed", name: "Zed", commands: []string{"zed", "zeditor"},
		traces: func(e Env) []string {
			return []string{zedFolder(e), e.home(".var", "app", "dev.zed.Zed"), "/Applications/Zed.app"}
		},
		targets: func(e Env) []target {
			file := func(path string, exists bool) variant {
				return variant{path: path, format: confedit.JSON, edits: zedEdits, exists: exists, says: func(Setup) says {
					return says{base: confedit.Names("language_models", "openai_compatible", provider, "api_url")}
				}}
			}
			return []target{{variants: []variant{
				file(e.join(zedFolder(e), "settings.json"), false),
				file(e.home(".var", "app", "dev.zed.Zed", "config", "zed", "settings.json"), true),
			}}}
		},
		steps: func(s Setup) []string {
			return []string{
				"In Zed open the settings of the agent panel, section LLM Providers, and paste this key at “" + provider + "”: " + s.Key,
				"Then choose a model of " + provider + " in the agent panel.",
			}
		},
		dialect: chatCompletions,
	}
}

func zedFolder(e Env) string {
	switch e.OS {
	case MacOS:
		return e.home(".config", "zed")
	case Windows:
		return e.appConfig("Zed")
	default:
		return e.dotConfig("zed")
	}
}

func zedEdits(s Setup) []edit {
	var models []confedit.Map
	for _, m := range s.Models {
		models = append(models, append(known(confedit.Map{
			{Name: "name", Value: m.ID}, {Name: "display_name", Value: m.title()},
			{Name: "max_tokens", Value: zedWindow(m)}, {Name: "max_output_tokens", Value: m.Output},
		}), confedit.Member{Name: "capabilities", Value: confedit.Map{
			{Name: "tools", Value: true}, {Name: "images", Value: m.Images},
			{Name: "parallel_tool_calls", Value: true}, {Name: "prompt_cache_key", Value: false},
		}}))
	}
	return []edit{{path: confedit.Names("language_models", "openai_compatible", provider), own: true, value: confedit.Map{
		{Name: "api_url", Value: s.BaseURL},
		{Name: "available_models", Value: confedit.Keyed{By: "name", Items: models}},
	}}}
}

// zedWindow is the context window, which Zed calls max_tokens and must have:
// an entry without it makes Zed ignore the settings.
func zedWindow(m Model) int {
	if m.Context > 0 {
		return m.Context
	}
	return 128000
}
