package editors

import "cursortray/app/confedit"

// Continue's extensions and its CLI share one file: config.yaml, or for users
// of long standing config.json, which a config.yaml beside it would hide.
func continueDev() editor {
	return editor{
		id: "continue", name: "Continue", commands: []string{"cn"},
		traces: func(e Env) []string {
			return append([]string{continueHome(e)}, e.extension("continue.continue")...)
		},
		targets: func(e Env) []target {
			return []target{{variants: []variant{
				{
					path: e.join(continueHome(e), "config.yaml"), format: confedit.YAML, edits: continueYAML,
					seed: confedit.Map{{Name: "name", Value: provider}, {Name: "version", Value: "1.0.0"}, {Name: "schema", Value: "v1"}},
					says: func(s Setup) says { return continueSays(confedit.Item("name", continueName(s.model(s.Model)))) },
				},
				{
					path: e.join(continueHome(e), "config.json"), format: confedit.JSON, edits: continueJSON, exists: true,
					says: func(s Setup) says { return continueSays(confedit.Item("title", continueName(s.model(s.Model)))) },
				},
			}}}
		},
		steps:   func(Setup) []string { return []string{"Choose one of the models marked (cursortray) in Continue."} },
		dialect: chatCompletions,
	}
}

func continueHome(e Env) string { return e.folder("CONTINUE_GLOBAL_DIR", e.home(".continue")) }

func continueName(m Model) string { return m.title() + " (" + provider + ")" }

func continueSays(item confedit.Step) says {
	at := confedit.Names("models").Then(item)
	return says{base: at.Then(confedit.Names("apiBase")...), key: at.Then(confedit.Names("apiKey")...), model: at.Then(confedit.Names("model")...)}
}

func continueYAML(s Setup) []edit {
	var edits []edit
	for _, m := range s.Models {
		// Without the capability, tools are described in the prompt instead.
		can := confedit.List{"tool_use"}
		if m.Images {
			can = append(can, "image_input")
		}
		block := known(confedit.Map{
			{Name: "name", Value: continueName(m)}, {Name: "provider", Value: "openai"}, {Name: "model", Value: m.ID},
			{Name: "apiBase", Value: s.BaseURL}, {Name: "apiKey", Value: s.Key},
		})
		block = append(block,
			confedit.Member{Name: "roles", Value: confedit.List{"chat", "edit", "apply"}},
			confedit.Member{Name: "capabilities", Value: can})
		if limits := known(confedit.Map{{Name: "contextLength", Value: m.Context}, {Name: "maxTokens", Value: m.Output}}); len(limits) > 0 {
			block = append(block, confedit.Member{Name: "defaultCompletionOptions", Value: limits})
		}
		edits = append(edits, edit{path: confedit.Names("models").Then(confedit.Item("name", continueName(m))), value: block, own: true})
	}
	return edits
}

func continueJSON(s Setup) []edit {
	var edits []edit
	for _, m := range s.Models {
		block := known(confedit.Map{
			{Name: "title", Value: continueName(m)}, {Name: "provider", Value: "openai"}, {Name: "model", Value: m.ID},
			{Name: "apiBase", Value: s.BaseURL}, {Name: "apiKey", Value: s.Key}, {Name: "contextLength", Value: m.Context},
		})
		if m.Output > 0 {
			block = append(block, confedit.Member{Name: "completionOptions", Value: confedit.Map{{Name: "maxTokens", Value: m.Output}}})
		}
		edits = append(edits, edit{path: confedit.Names("models").Then(confedit.Item("title", continueName(m))), value: block, own: true})
	}
	return edits
}
