package editors

import "cursortray/app/confedit"

// Aider takes ids with the prefix openai/ and looks limits and prices up in a
// file of its own, under LiteLLM's names for them (from its documentation).
func aider() editor {
	return editor{
		id: "aider", name: "Aider", commands: []string{"aider"},
		traces: func(e Env) []string { return []string{e.home(".aider.conf.yml"), e.home(".aider")} },
		targets: func(e Env) []target {
			return []target{
				{variants: []variant{{path: e.home(".aider.conf.yml"), format: confedit.YAML, edits: aiderEdits, says: func(Setup) says {
					return says{base: confedit.Names("openai-api-base"), key: confedit.Names("openai-api-key"), model: confedit.Names("model"), prefix: "openai/"}
				}}}},
				{variants: []variant{{path: e.home(".aider.model.metadata.json"), format: confedit.JSON, edits: aiderMetadata}}},
			}
		},
		dialect: chatCompletions,
	}
}

func aiderEdits(s Setup) []edit {
	choice := func(name, value string) edit {
		e := set("openai/"+value, name)
		e.choice = true
		return e
	}
	return []edit{
		set(s.BaseURL, "openai-api-base"),
		set(s.Key, "openai-api-key"),
		choice("model", s.Model),
		choice("weak-model", s.Small),
	}
}

func aiderMetadata(s Setup) []edit {
	var edits []edit
	for _, m := range s.Models {
		block := known(confedit.Map{
			{Name: "max_tokens", Value: m.Output}, {Name: "max_input_tokens", Value: m.Context}, {Name: "max_output_tokens", Value: m.Output},
		})
		if p := m.Price; p != nil {
			block = append(block,
				confedit.Member{Name: "input_cost_per_token", Value: p.Input / 1e6},
				confedit.Member{Name: "output_cost_per_token", Value: p.Output / 1e6})
		}
		block = append(block,
			confedit.Member{Name: "litellm_provider", Value: "openai"},
			confedit.Member{Name: "mode", Value: "chat"})
		edits = append(edits, edit{path: confedit.Names("openai/" + m.ID), value: block, own: true})
	}
	return edits
}
