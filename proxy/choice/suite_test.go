package choice

import (
	"context"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// The choice keeps the contract that its ways keep, whichever it takes.
func TestSuite(t *testing.T) {
	for _, chosen := range []string{"first", "second", "fixed"} {
		t.Run(chosen, func(t *testing.T) {
			chattest.Suite(t, chattest.Harness{Model: "fake-model", New: func(_ *testing.T, script chattest.Script) chattest.Instance {
				way, other := chattest.Scripted(script), chattest.New()
				right := Way{ID: "right", Backend: way.Backend, Ready: func(context.Context) error { return nil }}
				wrong := Way{ID: "wrong", Backend: other, Ready: func(context.Context) error { return chat.Errorf(chat.LoginRequired, "no") }}
				cfg := Config{Setting: Auto, Ways: []Way{right, wrong}}
				switch chosen {
				case "second":
					cfg.Ways = []Way{wrong, right}
				case "fixed":
					cfg.Setting, cfg.Ways = "right", []Way{wrong, right}
				}
				return chattest.Instance{Backend: New(cfg), Live: way.Live}
			}})
		})
	}
}
