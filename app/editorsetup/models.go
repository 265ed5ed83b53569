package editorsetup

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"cursortray/app/editors"
	"cursortray/proxy/chat"
)

// models chooses what an editor is told of the models: each with its window and
// price, without their variants, which are dozens and can be named all the same.
func (s *Service) models(ctx context.Context, info editors.Info, o Options) (editors.Setup, error) {
	var set editors.Setup
	keep := info.Keep
	if o.Keep != nil {
		keep = *o.Keep
	}
	all, err := s.cfg.Models(ctx)
	if err != nil && o.Model != "" {
		// The user knows one; nothing is known of it.
		return editors.Setup{Model: o.Model, KeepChoice: keep}, nil
	}
	if err != nil {
		return set, err
	}
	if len(all) == 0 {
		return set, chat.Errorf(chat.Unavailable, "there are no models to set an editor up with")
	}
	first, err := begin(all, o.Model, info.Model)
	if err != nil {
		return set, err
	}
	set.Model, set.KeepChoice = first.ID, keep
	for _, m := range all {
		if m.Group == "" || m.Group == m.ID || m.ID == first.ID {
			set.Models = append(set.Models, described(m))
		}
	}
	set.Small = small(set)
	return set, nil
}

// begin returns the model that the editor is to begin with: the one asked for,
// that of the last time, the account's default, or the first.
func begin(all []chat.Model, asked, last string) (chat.Model, error) {
	named := func(name string) int {
		return slices.IndexFunc(all, func(m chat.Model) bool { return m.ID == name || slices.Contains(m.Aliases, name) })
	}
	if asked != "" {
		i := named(asked)
		if i < 0 {
			return chat.Model{}, fmt.Errorf("there is no model %q; cursortray models lists them", asked)
		}
		return all[i], nil
	}
	if i := named(last); last != "" && i >= 0 {
		return all[i], nil
	}
	if i := slices.IndexFunc(all, func(m chat.Model) bool { return m.Default }); i >= 0 {
		return all[i], nil
	}
	return all[0], nil
}

// small returns the model for titles and the like: the cheapest, or the chosen
// one if its price is not known, as with a router, which may cost nothing.
func small(set editors.Setup) string {
	price := func(m editors.Model) float64 {
		if m.Price == nil {
			return 0
		}
		return m.Price.Output
	}
	best := set.Models[slices.IndexFunc(set.Models, func(m editors.Model) bool { return m.ID == set.Model })]
	if price(best) == 0 {
		return set.Model
	}
	for _, m := range set.Models {
		if p := price(m); p > 0 && p < price(best) {
			best = m
		}
	}
	return best.ID
}

func described(m chat.Model) editors.Model {
	told := editors.Model{
		ID: m.ID, Name: m.Name, Context: m.ContextWindow, Output: m.MaxOutput, Images: m.Images, Reasoning: m.Reasoning,
	}
	if m.Price != nil && m.Price.Input != "" && m.Price.Output != "" {
		told.Price = &editors.Price{
			Input: perMillion(m.Price.Input), Output: perMillion(m.Price.Output),
			CacheRead: perMillion(m.Price.CacheRead), CacheWrite: perMillion(m.Price.CacheWrite),
		}
	}
	return told
}

// perMillion reads dollars per token. It moves the point exactly, so that no
// rounding shows in the file.
func perMillion(perToken string) float64 {
	exact, ok := new(big.Rat).SetString(perToken)
	if !ok {
		return 0
	}
	dollars, _ := exact.Mul(exact, big.NewRat(1e6, 1)).Float64()
	return dollars
}
