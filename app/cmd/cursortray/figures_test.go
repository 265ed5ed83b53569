package main

import (
	"bytes"
	"strings"
	"testing"

	"cursortray/app/control"
	"cursortray/proxy/ledger"
	"cursortray/proxy/money"
)

// Small costs are told in cents, and none of them as nothing.
func TestSmallCostsInWords(t *testing.T) {
	for exact, want := range map[string]string{"0.0035035": ", 0.35¢,", "1.385": ", $1.39,", "0.00000001": ", <0.01¢,"} {
		if text := conversationText(control.Conversation{Model: "auto", Turns: 1, Cost: exact}); !strings.Contains(text, want) {
			t.Errorf("a cost of %s is told as %q", exact, text)
		}
	}
	for exact, want := range map[string]string{"0": " $0.00\n", "0.0031": " 0.31¢\n", "0.012": " $0.01\n"} {
		amount, err := money.Parse(exact)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		row := ledger.Row{Key: "auto", Requests: 1, Cost: amount}
		if err := (&process{stdout: &out}).printLedgerTable(usageReport{By: "model"}, []ledger.Row{row}); err != nil || strings.Count(out.String(), want) != 2 {
			t.Errorf("a cost of %s is told as\n%s%v", exact, &out, err)
		}
	}
}

// A day of many conversations does not push what matters off the screen.
func TestStatusTellsTheNewestConversations(t *testing.T) {
	for n, want := range map[int]string{10: "", 12: "and 2 more"} {
		s := control.Status{Conversations: make([]control.Conversation, n)}
		for i := range s.Conversations {
			s.Conversations[i] = control.Conversation{Model: "auto", Turns: i + 1}
		}
		var out bytes.Buffer
		if err := (&process{stdout: &out}).printStatus(s); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if strings.Count(text, "turns: ") != 10 || !strings.Contains(text, "turns: 1,") || strings.Contains(text, " more;") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%d conversations:\n%s", n, text)
		}
	}
}
