package cursor

import (
	"context"
	"sync"

	"cursortray/proxy/chat"
)

// The calls that list models. An older client asked for the usable ones at
// aiserver.v1.AiService.
const (
	methodAvailable = "aiserver.v1.AiService/AvailableModels"
	methodUsable    = "agent.v1.AgentService/GetUsableModels"
	methodDefault   = "agent.v1.AgentService/GetDefaultModelForCli"
)

// availableRequest asks for all variants, as the richest public client does.
type availableRequest struct {
	LongContext bool `json:"includeLongContextModels"`
	Parameters  bool `json:"useModelParameters"`
	EffortModes bool `json:"useCloudAgentEffortModes"`
}

// fetch makes the calls at the same time. Only AvailableModels must succeed, or
// there would be windows and settings no more; for the others, what was known
// before is kept. Where nothing was, the usable list alone is better than
// none, and incomplete tells what is missing.
func (c *ModelCache) fetch(ctx context.Context, old modelLists) (lists modelLists, incomplete, failure *chat.Error) {
	var all sync.WaitGroup
	var errAvailable, errUsable, errDefault *chat.Error
	all.Go(func() {
		request := availableRequest{LongContext: true, Parameters: true, EffortModes: true}
		lists.Available, errAvailable = ask(ctx, c.cfg.Call, methodAvailable, request, decodeAvailable)
	})
	all.Go(func() {
		lists.Usable, errUsable = ask(ctx, c.cfg.Call, methodUsable, struct{}{}, decodeUsable)
	})
	all.Go(func() {
		lists.Default, errDefault = ask(ctx, c.cfg.Call, methodDefault, struct{}{}, decodeDefault)
	})
	all.Wait()
	if errUsable != nil {
		c.cfg.Logger.Debug("no list of usable models", "error", errUsable)
		lists.Usable = old.Usable
	}
	if errDefault != nil {
		c.cfg.Logger.Debug("no default model", "error", errDefault)
		lists.Default = old.Default
	}
	if errAvailable != nil && (errUsable != nil || len(old.Available) > 0) {
		return modelLists{}, nil, errAvailable
	}
	return lists, errAvailable, nil
}

// ask makes one call and reads its answer.
func ask[T any](ctx context.Context, call ModelCall, method string, request any, decode func([]byte) (T, error)) (T, *chat.Error) {
	var none T
	answer, err := call(ctx, method, request)
	if err != nil {
		return none, chat.AsError(err)
	}
	value, err := decode(answer)
	if err != nil {
		return none, unreadableModels(err)
	}
	return value, nil
}

func unreadableModels(err error) *chat.Error {
	return &chat.Error{Kind: chat.BadGateway, Code: CodeServer, Err: err,
		Message: "Cursor's answer has no list of models in it; try again in a while"}
}
