package agentrpc

import (
	pb "cursortray/proxy/cursor/cursorpb"
)

// noAnswer is the reason in all refusals of questions.
const noAnswer = "not available in this client"

// answerQuery refuses a question of the service, in the way that its kind has
// for that: web search and fetch stay off, and nobody is there to be asked. An
// unanswered question would park the run for ever, so one of a kind that nobody
// knows is answered too, as far as that can be; known is false then.
func answerQuery(q *pb.InteractionQuery) (m *pb.AgentClientMessage, known bool) {
	r := &pb.InteractionResponse{Id: q.GetId()}
	known = refuseQuery(q, r)
	if number := pb.UnknownField(q); !known && number != 0 {
		pb.AddEmptyField(r, number)
	}
	return &pb.AgentClientMessage{Message: &pb.AgentClientMessage_InteractionResponse{InteractionResponse: r}}, known
}

func refuseQuery(q *pb.InteractionQuery, r *pb.InteractionResponse) bool {
	switch q.GetQuery().(type) {
	case *pb.InteractionQuery_WebSearchRequestQuery:
		r.Result = &pb.InteractionResponse_WebSearchRequestResponse{WebSearchRequestResponse: &pb.WebSearchRequestResponse{
			Result: &pb.WebSearchRequestResponse_Rejected{Rejected: &pb.WebSearchRequestResponseRejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_AskQuestionInteractionQuery:
		r.Result = &pb.InteractionResponse_AskQuestionInteractionResponse{AskQuestionInteractionResponse: &pb.AskQuestionInteractionResponse{
			Result: &pb.AskQuestionResult{Result: &pb.AskQuestionResult_Rejected{Rejected: &pb.AskQuestionRejected{Reason: noAnswer}}}}}
	case *pb.InteractionQuery_SwitchModeRequestQuery:
		r.Result = &pb.InteractionResponse_SwitchModeRequestResponse{SwitchModeRequestResponse: &pb.SwitchModeRequestResponse{
			Result: &pb.SwitchModeRequestResponse_Rejected{Rejected: &pb.SwitchModeRequestResponseRejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_ExaSearchRequestQuery:
		r.Result = &pb.InteractionResponse_ExaSearchRequestResponse{ExaSearchRequestResponse: &pb.ExaSearchRequestResponse{
			Result: &pb.ExaSearchRequestResponse_Rejected_{Rejected: &pb.ExaSearchRequestResponse_Rejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_ExaFetchRequestQuery:
		r.Result = &pb.InteractionResponse_ExaFetchRequestResponse{ExaFetchRequestResponse: &pb.ExaFetchRequestResponse{
			Result: &pb.ExaFetchRequestResponse_Rejected_{Rejected: &pb.ExaFetchRequestResponse_Rejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_CreatePlanRequestQuery:
		r.Result = &pb.InteractionResponse_CreatePlanRequestResponse{CreatePlanRequestResponse: &pb.CreatePlanRequestResponse{
			Result: &pb.CreatePlanResult{Result: &pb.CreatePlanResult_Error{Error: &pb.CreatePlanError{Error: noAnswer}}}}}
	case *pb.InteractionQuery_SetupVmEnvironmentArgs:
		// The only kind without a way to say no; nothing is set up.
		r.Result = &pb.InteractionResponse_SetupVmEnvironmentResult{SetupVmEnvironmentResult: &pb.SetupVmEnvironmentResult{
			Result: &pb.SetupVmEnvironmentResult_Success{Success: &pb.SetupVmEnvironmentSuccess{}}}}
	default:
		return refuseOther(q, r)
	}
	return true
}

func refuseOther(q *pb.InteractionQuery, r *pb.InteractionResponse) bool {
	switch q.GetQuery().(type) {
	case *pb.InteractionQuery_WebFetchRequestQuery:
		r.Result = &pb.InteractionResponse_WebFetchRequestResponse{WebFetchRequestResponse: &pb.WebFetchRequestResponse{
			Result: &pb.WebFetchRequestResponse_Rejected{Rejected: &pb.WebFetchRequestResponseRejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_PrManagementRequestQuery:
		r.Result = &pb.InteractionResponse_PrManagementResult{PrManagementResult: &pb.PrManagementResult{
			Result: &pb.PrManagementResult_Rejected{Rejected: &pb.PrManagementRejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_McpAuthRequestQuery:
		r.Result = &pb.InteractionResponse_McpAuthRequestResponse{McpAuthRequestResponse: &pb.McpAuthRequestResponse{
			Result: &pb.McpAuthRequestResponse_Rejected{Rejected: &pb.McpAuthRequestRejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_GenerateImageRequestQuery:
		r.Result = &pb.InteractionResponse_GenerateImageRequestResponse{GenerateImageRequestResponse: &pb.GenerateImageRequestResponse{
			Result: &pb.GenerateImageRequestResponse_Rejected{Rejected: &pb.GenerateImageRequestRejected{Reason: noAnswer}}}}
	case *pb.InteractionQuery_ReplaceEnvArgs:
		r.Result = &pb.InteractionResponse_ReplaceEnvResult{ReplaceEnvResult: &pb.ReplaceEnvResult{
			Result: &pb.ReplaceEnvResult_Failure{Failure: &pb.ReplaceEnvFailure{ErrorMessage: noAnswer}}}}
	case *pb.InteractionQuery_ConnectScmRequestQuery:
		r.Result = &pb.InteractionResponse_ConnectScmRequestResponse{ConnectScmRequestResponse: &pb.ConnectScmRequestResponse{
			Result: &pb.ConnectScmRequestResponse_Rejected{Rejected: &pb.ConnectScmRequestRejected{Reason: noAnswer}}}}
	default:
		return false
	}
	return true
}
