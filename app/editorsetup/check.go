package editorsetup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"cursortray/app/editors"
	"cursortray/proxy/chat"
)

// Checked is what a check found.
type Checked struct {
	ID, Name string
	editors.Answer
	// Guessed says that the editor's own settings cannot be read: address, key
	// and model are those that it should have.
	Guessed bool
}

// Check makes one real call the way the editor would. The error says in words
// what is wrong and what to do.
func (s *Service) Check(ctx context.Context, name string) (Checked, error) {
	info, err := s.cfg.Editors.Find(name)
	if err != nil {
		return Checked{}, unknown(err)
	}
	c := Checked{ID: info.ID, Name: info.Name, Guessed: info.State == editors.ByHand}
	if info.State == editors.NotSetUp {
		if off, err := s.cfg.Keys.Off(ctx); err != nil {
			return c, err
		} else if _, keyed := off[info.ID]; !keyed {
			return c, fmt.Errorf("%s is not set up; run: cursortray setup %s", info.Name, info.ID)
		}
	}
	set, err := s.setup(ctx, info, Options{Model: s.inUse(ctx, info)})
	if err != nil {
		return c, err
	}
	c.Answer, err = s.cfg.Editors.Check(ctx, s.cfg.HTTP, info.ID, set)
	if err != nil {
		return c, s.explain(c, set, err)
	}
	return c, nil
}

// inUse is the model of the last set-up, or "" for the default one. Where no
// model is known now, the call itself is to say why, with any name.
func (s *Service) inUse(ctx context.Context, info editors.Info) string {
	all, err := s.cfg.Models(ctx)
	if err != nil {
		return cmp.Or(info.Model, "auto")
	}
	if slices.ContainsFunc(all, func(m chat.Model) bool { return m.ID == info.Model }) {
		return info.Model
	}
	return ""
}

// explain says what is wrong in words, and the remedy.
func (s *Service) explain(c Checked, set editors.Setup, err error) error {
	again := "run: cursortray setup " + c.ID
	root := strings.TrimSuffix(set.BaseURL, "/v1")
	elsewhere := c.URL != "" && !strings.HasPrefix(c.URL, root+"/")
	var refusal *editors.Refusal
	switch {
	case errors.Is(err, editors.ErrNoAnswer) && elsewhere:
		return fmt.Errorf("%s asks at %s, where nobody answers; cursortray is at %s; %s", c.Name, c.URL, set.BaseURL, again)
	case errors.Is(err, editors.ErrNoAnswer):
		return fmt.Errorf("nobody answers at %s; start cursortray, or its proxy: cursortray start", set.BaseURL)
	case errors.Is(err, editors.ErrNotInFile):
		return fmt.Errorf("%w; %s", err, again)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the settings of %s are not there any more (%w); %s", c.Name, err, again)
	case errors.As(err, &refusal):
		if elsewhere {
			return fmt.Errorf("%s asks at %s, which is not cursortray at %s: %w; %s", c.Name, c.URL, set.BaseURL, err, again)
		}
		if refusal.Status == http.StatusUnauthorized {
			return fmt.Errorf("the key that %s sends is not its own any more; %s", c.Name, again)
		}
		if refusal.Status == http.StatusNotFound && refusal.Message != "" {
			return fmt.Errorf("%w; %s --model ID", err, again)
		}
	}
	return err
}
