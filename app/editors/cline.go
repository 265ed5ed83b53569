package editors

import (
	"fmt"

	"cursortray/app/confedit"
)

// cline and its relatives keep their settings in the editor's state store and
// its secrets, where nothing can be written from outside.
func cline() editor {
	return editor{
		id: "cline", name: "Cline (VS Code)",
		traces:  func(e Env) []string { return e.extension("saoudrizwan.claude-dev") },
		steps:   func(s Setup) []string { return extensionSteps("Cline", s) },
		dialect: chatCompletions,
	}
}

func roo() editor {
	return editor{
		id: "roo", name: "Roo Code (VS Code)",
		traces:  func(e Env) []string { return e.extension("rooveterinaryinc.roo-cline") },
		steps:   func(s Setup) []string { return extensionSteps("Roo Code", s) },
		dialect: chatCompletions,
	}
}

func extensionSteps(name string, s Setup) []string {
	m := s.model(s.Model)
	steps := []string{
		fmt.Sprintf("Open the settings of %s and choose the API provider “OpenAI Compatible”.", name),
		"Base URL: " + s.BaseURL,
		"API key: " + s.Key,
		"Model ID: " + s.Model,
	}
	if m.Context > 0 {
		steps = append(steps, fmt.Sprintf("Context window: %d", m.Context))
	}
	if m.Output > 0 {
		steps = append(steps, fmt.Sprintf("Max output tokens: %d", m.Output))
	}
	if m.Images {
		steps = append(steps, "Supports images: on")
	}
	if p := m.Price; p != nil {
		steps = append(steps, fmt.Sprintf("Prices per million tokens: input %g, output %g", p.Input, p.Output))
	}
	return steps
}

// clineCLI 3.0 has one place for any OpenAI-compatible provider; what the user
// had in it comes back with undo. The file is what "cline auth" writes.
func clineCLI() editor {
	return editor{
		id: "cline-cli", name: "Cline CLI", commands: []string{"cline"},
		traces: func(e Env) []string { return []string{e.home(".cline", "data")} },
		targets: func(e Env) []target {
			return []target{{variants: []variant{{
				path: e.home(".cline", "data", "settings", "providers.json"), format: confedit.JSON,
				seed: confedit.Map{{Name: "version", Value: 1}}, edits: clineEdits,
				says: func(Setup) says {
					settings := confedit.Names("providers", "openai-compatible", "settings")
					return says{base: settings.Then(confedit.Names("baseUrl")...), key: settings.Then(confedit.Names("apiKey")...), model: settings.Then(confedit.Names("model")...)}
				},
			}}}}
		},
		dialect: chatCompletions,
	}
}

func clineEdits(s Setup) []edit {
	const id = "openai-compatible"
	settings := confedit.Map{
		{Name: "provider", Value: id}, {Name: "apiKey", Value: s.Key},
		{Name: "model", Value: s.Model}, {Name: "baseUrl", Value: s.BaseURL},
	}
	once := func(name, value string) edit {
		e := set(value, "providers", id, name)
		e.once = true
		return e
	}
	last := set(id, "lastUsedProvider")
	last.choice = true
	return []edit{
		last,
		{path: confedit.Names("providers", id), value: confedit.Map{{Name: "settings", Value: settings}}, own: true},
		// It wants a time, and from then on writes its own.
		once("updatedAt", "2026-01-01T00:00:00.000Z"),
		once("tokenSource", "manual"),
	}
}
