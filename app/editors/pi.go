package editors

import "cursortray/app/confedit"

// pi 0.73: measured.
func pi() editor {
	return editor{
		id: "pi", name: "pi", commands: []string{"pi"},
		traces: func(e Env) []string { return []string{piHome(e)} },
		targets: func(e Env) []target {
			return []target{{variants: []variant{{
				path: e.join(piHome(e), "models.json"), format: confedit.JSON, edits: piEdits,
				says: func(Setup) says {
					block := confedit.Names("providers", provider)
					return says{base: block.Then(confedit.Names("baseUrl")...), key: block.Then(confedit.Names("apiKey")...)}
				},
			}}}}
		},
		steps: func(s Setup) []string {
			return []string{"Choose the model in pi with /model, or start it with: pi --provider " + provider + " --model " + s.Model}
		},
		dialect: chatCompletions,
	}
}

func piHome(e Env) string { return e.folder("PI_CODING_AGENT_DIR", e.home(".pi", "agent")) }

func piEdits(s Setup) []edit {
	var models []confedit.Map
	for _, m := range s.Models {
		input := confedit.List{"text"}
		if m.Images {
			input = append(input, "image")
		}
		block := known(confedit.Map{{Name: "id", Value: m.ID}, {Name: "name", Value: m.title()}, {Name: "contextWindow", Value: m.Context}, {Name: "maxTokens", Value: m.Output}})
		block = append(block, confedit.Member{Name: "reasoning", Value: m.Reasoning}, confedit.Member{Name: "input", Value: input})
		if p := m.Price; p != nil {
			block = append(block, confedit.Member{Name: "cost", Value: confedit.Map{
				{Name: "input", Value: p.Input}, {Name: "output", Value: p.Output},
				{Name: "cacheRead", Value: p.CacheRead}, {Name: "cacheWrite", Value: p.CacheWrite},
			}})
		}
		models = append(models, block)
	}
	return []edit{{path: confedit.Names("providers", provider), own: true, value: confedit.Map{
		{Name: "baseUrl", Value: s.BaseURL}, {Name: "api", Value: "openai-completions"}, {Name: "apiKey", Value: s.Key},
		{Name: "models", Value: confedit.Keyed{By: "id", Items: models}},
	}}}
}
