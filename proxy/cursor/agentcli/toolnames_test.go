package agentcli

import (
	"fmt"
	"testing"

	"cursortray/proxy/chat"
)

// looped is a history with n rounds of one call.
func looped(n int, name string, args func(i int) string, result func(i int) chat.ToolResult) []chat.Message {
	history := []chat.Message{said(chat.User, text("do it"))}
	for i := range n {
		r := result(i)
		r.CallID = fmt.Sprint("c", i)
		history = append(history, said(chat.Assistant, use(r.CallID, name, args(i))), said(chat.User, r))
	}
	return history
}

func TestTC7_OnlyDeclaredNamesAndKeys(t *testing.T) {
	text, found := scanText(newToolScanner(scanTools, false), block(`{"name":"shell","arguments":{"command":"ls","workingDirectory":"/"}}`), 9)
	if text != "•" || len(found) != 1 || found[0] != `bash {"command":"ls"}` {
		t.Errorf("the native shell gives %q %q", text, found)
	}
	unknown := block(`{"name":"semSearch","arguments":{"query":"x"}}`)
	if text, found := scanText(newToolScanner(scanTools, false), unknown, 9); text != unknown+noTool("semSearch") || found != nil {
		t.Errorf("an unknown tool gives %q %q", text, found)
	}
}
