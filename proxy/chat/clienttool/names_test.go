package clienttool

import (
	"encoding/json"
	"testing"

	"cursortray/proxy/chat"
)

func TestNames(t *testing.T) {
	const path = `{"type":"object","properties":{"filePath":{},"old_string":{},"newString":{},"limit":{}},"required":["filePath"]}`
	offered := []chat.Tool{
		tool("Read", path), tool("bash", `{"properties":{"command":{}}}`), tool("todowrite", `{}`), tool("rm", `{"properties":{"path":{}}}`),
		tool("mcp__notes__add", `{"properties":{"text":{}},"additionalProperties":false}`),
		tool("web_fetch", `{"properties":{"url":{}},"additionalProperties":{"type":"string"}}`),
		tool("WebFetch2", `{"properties":{"a_b":{},"aB":{}}}`), tool("x_y", ``), tool("xY", ``),
		tool("two", `{"properties":{"path":{},"file":{}}}`), tool("ref", `{"properties":{"a":{}},"$ref":"#/x"}`),
		tool("edit", `{"properties":{"path":{},"old_string":{},"new_string":{}}}`), tool("write", `{"properties":{"path":{},"content":{}}}`),
	}
	names := NewNames(offered)
	for _, c := range []struct{ name, args, wantName, wantArgs string }{
		{"Read", `{"filePath":"a"}`, "Read", `{"filePath":"a"}`},
		{"read", `{ "filePath" : "a" }`, "Read", `{ "filePath" : "a" }`},
		{"READ", `{"file_path":"a"}`, "Read", `{"filePath":"a"}`},
		{"read", `{"path":"a","offset":7,"limit":1}`, "Read", `{"filePath":"a","limit":1}`},
		{"read", `{"path":"a","filePath":"b"}`, "Read", `{"filePath":"b"}`},
		{"read", `{"oldText":"<a>","new_str":"b"}`, "Read", `{"old_string":"<a>","newString":"b"}`},
		{"read", `{}`, "Read", `{}`},
		{"shell", `{"command":"ls","workingDirectory":"","timeout":3}`, "bash", `{"command":"ls"}`},
		{"Bash", `{"cmd":"ls"}`, "bash", `{"command":"ls"}`},
		{"updateTodos", `{"todos":[]}`, "todowrite", `{"todos":[]}`},
		{"delete", `{"path":"a"}`, "rm", `{"path":"a"}`},
		{"mcp", `{"name":"notes-add","args":{"text":"hi","more":1},"providerIdentifier":"notes","toolName":"add"}`, "mcp__notes__add", `{"text":"hi"}`},
		{"mcp", `{"args":{},"providerIdentifier":"other","toolName":"add"}`, "", ""},
		{"mcp", `{"providerIdentifier":"notes","toolName":"add"}`, "", ""},
		{"webFetch", `{"url":"u","extra":"kept"}`, "web_fetch", `{"url":"u","extra":"kept"}`},
		{"webfetch2", `{"A-B":1}`, "WebFetch2", `{}`}, // two keys would do
		{"x_y", `{"q":1}`, "x_y", `{"q":1}`},
		{"XY", `{}`, "", ""}, // two tools would do
		{"two", `{"filename":"a"}`, "two", `{}`},
		{"ref", `{"b":1}`, "ref", `{"b":1}`},
		{"askQuestion", `{}`, "", ""},
		{"launch", `{}`, "", ""},
		{"", `{}`, "", ""},
		{"---", `{}`, "", ""},
	} {
		name, args, ok := names.Resolve(c.name, json.RawMessage(c.args))
		if name != c.wantName || string(args) != c.wantArgs || ok != (c.wantName != "") {
			t.Errorf("%s %s: got %q %s", c.name, c.args, name, args)
		}
	}
}

func TestTC8_EditNeverBecomesAnOverwrite(t *testing.T) {
	names := NewNames([]chat.Tool{
		tool("edit", `{"properties":{"path":{},"old_string":{},"new_string":{}},"required":["path","old_string","new_string"]}`),
		tool("write", `{"properties":{"path":{},"content":{}}}`),
	})
	for in, want := range map[string]string{
		`{"path":"a","old_string":"","new_string":"x"}`: `{"path":"a","old_string":"","new_string":"x"}`,
		`{"path":"a","new_string":"x"}`:                 `{"path":"a","new_string":"x"}`,
		`{"path":"a","streamContent":"all"}`:            `{"path":"a"}`,
	} {
		if name, args, ok := names.Resolve("edit", json.RawMessage(in)); !ok || name != "edit" || string(args) != want {
			t.Errorf("%s: got %s %s", in, name, args)
		}
	}
	onlyWrite := NewNames([]chat.Tool{tool("write", `{}`)})
	if name, _, ok := onlyWrite.Resolve("edit", json.RawMessage(`{}`)); ok {
		t.Errorf("an edit became %s", name)
	}
}

func tool(name, schema string) chat.Tool {
	return chat.Tool{Name: name, Schema: json.RawMessage(schema)}
}
