package editors

import "cursortray/app/confedit"

// VS Code's chat has custom endpoints since 1.122. It takes the key from its
// own secrets only: a key in the file is ignored (reported for 1.140), so the
// user enters it once, and the reference VS Code then writes stays.
func vsCode() editor {
	return editor{
		id: "vscode", name: "VS Code (Copilot chat, own key)", commands: []string{"code", "code-insiders"},
		traces: func(e Env) []string {
			return []string{e.appConfig("Code", "User"), e.appConfig("Code - Insiders", "User")}
		},
		targets: func(e Env) []target {
			file := func(product string) []variant {
				return []variant{{
					path: e.appConfig(product, "User", "chatLanguageModels.json"), format: confedit.JSON, edits: vsCodeEdits,
					says: func(s Setup) says {
						return says{base: vsCodeGroup().Then(confedit.Names("models")...).Then(confedit.Item("id", s.Model)).Then(confedit.Names("url")...)}
					},
				}}
			}
			return []target{{variants: file("Code")}, {variants: file("Code - Insiders"), optional: true}}
		},
		steps: func(s Setup) []string {
			return []string{
				"In VS Code run “Chat: Manage Language Models”, right-click " + provider + ", choose “Update API Key” and paste: " + s.Key,
				"Then choose a model of " + provider + " in the chat.",
			}
		},
		dialect: chatCompletions,
	}
}

func vsCodeGroup() confedit.Path { return confedit.Path{confedit.Item("name", provider)} }

func vsCodeEdits(s Setup) []edit {
	var models []confedit.Map
	for _, m := range s.Models {
		models = append(models, known(confedit.Map{
			{Name: "id", Value: m.ID}, {Name: "name", Value: m.title()},
			{Name: "url", Value: s.BaseURL + "/chat/completions"}, {Name: "apiType", Value: "chat-completions"},
			{Name: "toolCalling", Value: true}, {Name: "vision", Value: m.Images},
			{Name: "maxInputTokens", Value: m.Context}, {Name: "maxOutputTokens", Value: m.Output},
		}))
	}
	return []edit{{path: vsCodeGroup(), own: true, value: confedit.Map{
		{Name: "name", Value: provider}, {Name: "vendor", Value: "customendpoint"}, {Name: "apiType", Value: "chat-completions"},
		{Name: "models", Value: confedit.Keyed{By: "id", Items: models}},
	}}}
}
