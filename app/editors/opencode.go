package editors

import "cursortray/app/confedit"

// OpenCode 1.18: measured with its chat completions. It asks for no model list,
// so limits and prices stand in its file.
func openCode() editor {
	return editor{
		id: "opencode", name: "OpenCode", commands: []string{"opencode"},
		traces: func(e Env) []string { return []string{e.dotConfig("opencode"), e.home(".opencode")} },
		targets: func(e Env) []target {
			return openCodeFiles(e.dotConfig("opencode"), e, "https://opencode.ai/config.json", "opencode.jsonc", "opencode.json", "config.json")
		},
		dialect: chatCompletions,
	}
}

// openCodeFiles are the names that OpenCode and its fork look for. All that
// exist are read, the last one of them wins: so that one is edited.
func openCodeFiles(dir string, e Env, schema, jsonc, json string, more ...string) []target {
	file := func(name string, exists bool) variant {
		return variant{
			path: e.join(dir, name), format: confedit.JSON, exists: exists,
			seed: confedit.Map{{Name: "$schema", Value: schema}}, edits: openCodeEdits,
			says: func(s Setup) says {
				options := confedit.Names("provider", provider, "options")
				return says{
					base: options.Then(confedit.Names("baseURL")...), key: options.Then(confedit.Names("apiKey")...),
					model: confedit.Names("model"), prefix: provider + "/",
				}
			},
		}
	}
	variants := []variant{file(jsonc, true), file(json, false)}
	for _, name := range more {
		variants = append(variants, file(name, true))
	}
	return []target{{variants: variants}}
}

func openCodeEdits(s Setup) []edit {
	models := confedit.Map{}
	for _, m := range s.Models {
		models = append(models, confedit.Member{Name: m.ID, Value: openCodeModel(m)})
	}
	block := confedit.Map{
		{Name: "npm", Value: "@ai-sdk/openai-compatible"},
		{Name: "name", Value: provider},
		{Name: "options", Value: confedit.Map{{Name: "baseURL", Value: s.BaseURL}, {Name: "apiKey", Value: s.Key}}},
		{Name: "models", Value: models},
	}
	prefix := provider + "/"
	return []edit{
		{path: confedit.Names("provider", provider), value: block, own: true},
		{path: confedit.Names("model"), value: prefix + s.Model, choice: true, prefix: prefix},
		// It must name a listed model, else titles go elsewhere.
		{path: confedit.Names("small_model"), value: prefix + s.Small, choice: true, prefix: prefix},
	}
}

func openCodeModel(m Model) confedit.Map {
	block := confedit.Map{
		{Name: "name", Value: m.title()},
		{Name: "tool_call", Value: true},
		{Name: "reasoning", Value: m.Reasoning},
		{Name: "attachment", Value: m.Images},
	}
	if m.Context > 0 { // without a limit it never compacts
		block = append(block, confedit.Member{Name: "limit", Value: confedit.Map{{Name: "context", Value: m.Context}, {Name: "output", Value: openCodeOutput(m)}}})
	}
	if p := m.Price; p != nil {
		block = append(block, confedit.Member{Name: "cost", Value: confedit.Map{
			{Name: "input", Value: p.Input}, {Name: "output", Value: p.Output},
			{Name: "cache_read", Value: p.CacheRead}, {Name: "cache_write", Value: p.CacheWrite},
		}})
	}
	return block
}

// openCodeOutput is what OpenCode keeps free for the answer, which it must be
// told beside the window: its own default where the limit is not known.
func openCodeOutput(m Model) int {
	if m.Output > 0 {
		return m.Output
	}
	return min(32000, m.Context/4)
}
