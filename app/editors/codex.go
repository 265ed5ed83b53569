package editors

import "cursortray/app/confedit"

// Codex 0.171 speaks Responses only. An id that it does not know costs a
// warning about metadata, so the window of the chosen model is told.
func codex() editor {
	return editor{
		id: "codex", name: "Codex", commands: []string{"codex"},
		traces: func(e Env) []string { return []string{codexHome(e)} },
		targets: func(e Env) []target {
			return []target{{variants: []variant{{
				path: e.join(codexHome(e), "config.toml"), format: confedit.TOML, edits: codexEdits,
				says: func(Setup) says {
					table := confedit.Names("model_providers", provider)
					return says{
						base: table.Then(confedit.Names("base_url")...), key: table.Then(confedit.Names("experimental_bearer_token")...),
						model: confedit.Names("model"),
					}
				},
			}}}}
		},
		steps: func(s Setup) []string {
			if s.KeepChoice {
				return []string{"Run Codex through cursortray with: codex -c model_provider=" + provider + " -m " + s.Model}
			}
			return nil
		},
		dialect: responses,
	}
}

func codexHome(e Env) string { return e.folder("CODEX_HOME", e.home(".codex")) }

func codexEdits(s Setup) []edit {
	choice := func(name string, value any) edit {
		e := set(value, name)
		e.choice = true
		return e
	}
	edits := []edit{choice("model", s.Model), choice("model_provider", provider)}
	if m := s.model(s.Model); m.Context > 0 {
		edits = append(edits, choice("model_context_window", m.Context))
	}
	return append(edits,
		// With a variable that is not set, Codex stops before any request.
		set(nil, "model_providers", provider, "env_key"),
		edit{path: confedit.Names("model_providers", provider), own: true, value: confedit.Map{
			{Name: "name", Value: provider},
			{Name: "base_url", Value: s.BaseURL},
			{Name: "wire_api", Value: "responses"},
			{Name: "experimental_bearer_token", Value: s.Key},
		}})
}
