package app

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// marked lists the ids with the mark.
func marked(list *ModelList) (ids []string) {
	if list == nil {
		return nil
	}
	for _, f := range list.Families {
		for _, e := range append([]ModelEntry{f.ModelEntry}, f.Variants...) {
			if e.Default {
				ids = append(ids, e.ID)
			}
		}
	}
	return ids
}

func (r *rig) marks(t *testing.T, id string) Snapshot {
	t.Helper()
	return r.until(t, "the mark is on "+id, func(s Snapshot) bool {
		got := marked(s.Models.List)
		return len(got) == 1 && got[0] == id
	})
}

// ask sends a request for a model through the proxy.
func (r *rig) ask(t *testing.T, model string) {
	t.Helper()
	if status := statusOf(t, r.in(t, Running).Proxy.BaseURL, testKey, model); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
}

func TestDefaultModelIsChosenByAClick(t *testing.T) {
	account := signedIn(catalogOfIDs(t, time.Now(), "default", "opus-5-low", "opus-5-high"))
	saved := make(chan string, 8)
	var fail atomic.Bool
	r := newAccountRig(t, account, func(c *Config) {
		c.DefaultModel = NewDefaultModel("")
		c.SaveDefaultModel = func(id string) error {
			saved <- id
			if fail.Load() {
				return errors.New("the disk is full")
			}
			return nil
		}
	})
	before := r.marks(t, "default")
	if before.Models.Chosen != "" {
		t.Errorf("chosen is %q", before.Models.Chosen)
	}
	r.Do(ChooseModel{ID: "opus-5-high"})
	if s := r.marks(t, "opus-5-high"); s.Models.Chosen != "opus-5-high" {
		t.Errorf("chosen is %q", s.Models.Chosen)
	}
	if id := <-saved; id != "opus-5-high" {
		t.Errorf("saved %q", id)
	}
	if len(marked(before.Models.List)) != 1 || marked(before.Models.List)[0] != "default" {
		t.Error("an old snapshot has changed")
	}
	// The choice outlives the list.
	r.Do(Refresh{})
	<-account.renewed
	r.marks(t, "opus-5-high")

	fail.Store(true)
	r.Do(ChooseModel{ID: "opus-5-low"})
	r.marks(t, "opus-5-low")
	r.until(t, "that it is not saved is said", func(s Snapshot) bool { return strings.Contains(s.Notice.Text, "cannot be saved") })
	fail.Store(false)
	r.Do(ChooseModel{ID: "nothing"})
	r.until(t, "an unknown model is refused", func(s Snapshot) bool { return strings.Contains(s.Notice.Text, "no model") })
	r.Do(ChooseModel{ID: "auto"})
	r.marks(t, "default")
}

func TestDefaultModelOfRequests(t *testing.T) {
	for _, c := range []struct{ chosen, asked, want string }{
		{"", "auto", "auto"}, {"", "default", "default"}, {"", "opus-5", "opus-5"},
		{"opus-5", "auto", "opus-5"}, {"opus-5", "Default", "opus-5"}, {"opus-5", " ", "opus-5"}, {"opus-5", "gpt-5.4", "gpt-5.4"},
		{"auto", "default", "default"}, // which is no choice
	} {
		r := newRig(t, func(cfg *Config) { cfg.DefaultModel = NewDefaultModel(c.chosen) }, chattest.Turn{chattest.Text("hello"), chattest.Finish(chat.Stop)})
		r.ask(t, c.asked)
		if got := r.backend.Requests()[0].Model; got != c.want {
			t.Errorf("with %q chosen, %q is answered by %q, want %q", c.chosen, c.asked, got, c.want)
		}
	}
}

func TestListOfModelsShowsTheDefault(t *testing.T) {
	list := []chat.Model{
		{ID: "default", Name: "Auto", Aliases: []string{"auto"}, Default: true, Price: &chat.Price{Input: "1"}},
		{ID: "opus-5", Name: "Opus 5", Aliases: []string{"opus"}, ContextWindow: 300, Price: &chat.Price{Input: "5"}},
	}
	got := NewDefaultModel("opus").Mark(list)
	if got[0].Default || !got[1].Default || got[0].Price.Input != "5" || got[0].ContextWindow != 300 || got[0].Name != "Auto, now Opus 5" {
		t.Errorf("%+v", got)
	}
	if !list[0].Default || list[1].Default {
		t.Error("the back-end's list was changed")
	}
	for _, none := range []string{"", "auto", "gone"} {
		if got := NewDefaultModel(none).Mark(list); !got[0].Default || got[0].Price.Input != "1" {
			t.Errorf("with %q: %+v", none, got)
		}
	}
}
