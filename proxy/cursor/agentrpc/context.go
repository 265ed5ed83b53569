package agentrpc

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// occupancy is how full a conversation's window is, by the service's own token
// details: the only figures that say so. The zero value is not known.
type occupancy struct {
	Known bool
	Used  int
	Max   int
	Parts []chat.ContextPart
}

// readOccupancy returns the token details of a checkpoint. A checkpoint without
// them says nothing, which is not the same as an empty window.
func readOccupancy(checkpoint []byte) occupancy {
	var state cursorpb.ConversationStateStructure
	if proto.Unmarshal(checkpoint, &state) != nil || state.GetTokenDetails() == nil {
		return occupancy{}
	}
	d := state.GetTokenDetails()
	o := occupancy{Known: true, Used: int(d.GetUsedTokens()), Max: int(d.GetMaxTokens())}
	for _, c := range d.GetBreakdown().GetCategories() {
		o.Parts = append(o.Parts, chat.ContextPart{ID: c.GetId(), Label: c.GetLabel(), Tokens: int(c.GetEstimatedTokens())})
	}
	return o
}

// context is what a turn reports. stale says that the figures are older than
// its run.
func (o occupancy) context(stale bool) *chat.Context {
	if !o.Known {
		return nil
	}
	return &chat.Context{Used: o.Used, Max: o.Max, Stale: stale, Parts: slices.Clone(o.Parts)}
}

// usage returns what a turn used, nil if the service gave no figures. Its
// counters are sums over all calls of the model in a run, so they can exceed
// the window by far. Clients take the figures for the size of the
// conversation, so input and output are made to add up to now, the occupancy
// that this run reported, if it did.
func usage(end *cursorpb.TurnEndedUpdate, now occupancy) *chat.Usage {
	if end.InputTokens == nil && end.OutputTokens == nil && end.CacheReadTokens == nil && end.CacheWriteTokens == nil && end.ReasoningTokens == nil {
		return nil
	}
	output := count(end.GetOutputTokens())
	input := count(end.GetInputTokens()) // has the cache's parts in it
	if now.Known && now.Used > 0 {
		output = min(output, now.Used)
		input = now.Used - output
	}
	read := min(count(end.GetCacheReadTokens()), input)
	write := min(count(end.GetCacheWriteTokens()), input-read)
	return &chat.Usage{
		Input: input - read - write, CacheRead: read, CacheWrite: write,
		Output: output, Reasoning: min(count(end.GetReasoningTokens()), output),
	}
}

// count makes a number of the service one that can be added up.
func count(n int64) int { return int(min(max(n, 0), 1<<31-1)) }
