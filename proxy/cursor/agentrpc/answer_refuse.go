package agentrpc

import "cursortray/proxy/cursor/cursorpb"

// Codes of a throw.
const (
	unknownVariant = "unknown_exec_variant"
	unknownHook    = "unknown_hook_request"
)

// refuse returns the messages that say that the work was not done, and why, in
// the form of its kind: the wrong form, as a shell result for a shell stream,
// leaves the run waiting for ever.
func (p pendingExec) refuse(reason string) []*cursorpb.AgentClientMessage {
	reason = valid(reason)
	for _, kind := range []func(*cursorpb.ExecServerMessage, string) *cursorpb.ExecClientMessage{
		refuseFiles, refuseCommands, refuseTools, refusePi, refuseOthers,
	} {
		if result := kind(p.exec, reason); result != nil {
			return p.with(result)
		}
	}
	switch p.exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_ExecuteHookArgs:
		return p.throw(reason, unknownHook)
	case nil:
		return p.throw(reason, unknownVariant)
	}
	return p.throw(reason, "") // git diff, adoption: no result says no
}

// emptyAnswer answers what a proxy has none of, as "nothing" and not as "no".
func emptyAnswer(exec *cursorpb.ExecServerMessage) *cursorpb.ExecClientMessage {
	switch x := exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_DiagnosticsArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_DiagnosticsResult{DiagnosticsResult: &cursorpb.DiagnosticsResult{
			Result: &cursorpb.DiagnosticsResult_Success{Success: &cursorpb.DiagnosticsSuccess{Path: x.DiagnosticsArgs.GetPath()}}}}}
	case *cursorpb.ExecServerMessage_ListMcpResourcesExecArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ListMcpResourcesExecResult{
			ListMcpResourcesExecResult: &cursorpb.ListMcpResourcesExecResult{
				Result: &cursorpb.ListMcpResourcesExecResult_Success{Success: &cursorpb.ListMcpResourcesSuccess{}}}}}
	case *cursorpb.ExecServerMessage_ReadMcpResourceExecArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ReadMcpResourceExecResult{
			ReadMcpResourceExecResult: &cursorpb.ReadMcpResourceExecResult{Result: &cursorpb.ReadMcpResourceExecResult_NotFound{
				NotFound: &cursorpb.ReadMcpResourceNotFound{Uri: x.ReadMcpResourceExecArgs.GetUri()}}}}}
	case *cursorpb.ExecServerMessage_ForceBackgroundShellArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ForceBackgroundShellResult{
			ForceBackgroundShellResult: &cursorpb.ForceBackgroundShellResult{
				Status: cursorpb.ForceBackgroundShellStatus_FORCE_BACKGROUND_SHELL_STATUS_NOT_FOUND}}}
	case *cursorpb.ExecServerMessage_ForceBackgroundSubagentArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ForceBackgroundSubagentResult{
			ForceBackgroundSubagentResult: &cursorpb.ForceBackgroundSubagentResult{
				Status: cursorpb.ForceBackgroundSubagentStatus_FORCE_BACKGROUND_SUBAGENT_STATUS_NOT_FOUND}}}
	case *cursorpb.ExecServerMessage_SubagentAwaitArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_SubagentAwaitResult{
			SubagentAwaitResult: &cursorpb.SubagentAwaitResult{Result: &cursorpb.SubagentAwaitResult_NotFound{
				NotFound: &cursorpb.SubagentAwaitNotFound{AgentId: x.SubagentAwaitArgs.GetAgentId()}}}}}
	case *cursorpb.ExecServerMessage_ShellAllowlistPrecheckArgs: // unset is "no": the client asks its user
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ShellAllowlistPrecheckResult{
			ShellAllowlistPrecheckResult: &cursorpb.ShellAllowlistPrecheckResult{}}}
	case *cursorpb.ExecServerMessage_McpAllowlistPrecheckArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_McpAllowlistPrecheckResult{
			McpAllowlistPrecheckResult: &cursorpb.McpAllowlistPrecheckResult{}}}
	case *cursorpb.ExecServerMessage_WebFetchAllowlistPrecheckArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_WebFetchAllowlistPrecheckResult{
			WebFetchAllowlistPrecheckResult: &cursorpb.WebFetchAllowlistPrecheckResult{}}}
	}
	return nil
}

func refuseFiles(exec *cursorpb.ExecServerMessage, reason string) *cursorpb.ExecClientMessage {
	switch x := exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_ReadArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ReadResult{ReadResult: &cursorpb.ReadResult{
			Result: &cursorpb.ReadResult_Rejected{Rejected: &cursorpb.ReadRejected{Path: x.ReadArgs.GetPath(), Reason: reason}}}}}
	case *cursorpb.ExecServerMessage_RedactedReadArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_RedactedReadResult{RedactedReadResult: &cursorpb.ReadResult{
			Result: &cursorpb.ReadResult_Error{Error: &cursorpb.ReadError{Path: x.RedactedReadArgs.GetPath(), Error: reason}}}}}
	case *cursorpb.ExecServerMessage_WriteArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_WriteResult{WriteResult: &cursorpb.WriteResult{
			Result: &cursorpb.WriteResult_Rejected{Rejected: &cursorpb.WriteRejected{Path: x.WriteArgs.GetPath(), Reason: reason}}}}}
	case *cursorpb.ExecServerMessage_DeleteArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_DeleteResult{DeleteResult: &cursorpb.DeleteResult{
			Result: &cursorpb.DeleteResult_Rejected{Rejected: &cursorpb.DeleteRejected{Path: x.DeleteArgs.GetPath(), Reason: reason}}}}}
	case *cursorpb.ExecServerMessage_GrepArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_GrepResult{GrepResult: &cursorpb.GrepResult{
			Result: &cursorpb.GrepResult_Error{Error: &cursorpb.GrepError{Error: reason}}}}}
	case *cursorpb.ExecServerMessage_LsArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_LsResult{LsResult: &cursorpb.LsResult{
			Result: &cursorpb.LsResult_Rejected{Rejected: &cursorpb.LsRejected{Path: x.LsArgs.GetPath(), Reason: reason}}}}}
	case *cursorpb.ExecServerMessage_DiagnosticsArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_DiagnosticsResult{DiagnosticsResult: &cursorpb.DiagnosticsResult{
			Result: &cursorpb.DiagnosticsResult_Rejected{Rejected: &cursorpb.DiagnosticsRejected{Path: x.DiagnosticsArgs.GetPath(), Reason: reason}}}}}
	case *cursorpb.ExecServerMessage_CanvasDiagnosticsArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_CanvasDiagnosticsResult{
			CanvasDiagnosticsResult: &cursorpb.CanvasDiagnosticsResult{Result: &cursorpb.CanvasDiagnosticsResult_Error{
				Error: &cursorpb.CanvasDiagnosticsError{Path: x.CanvasDiagnosticsArgs.GetPath(), Error: reason}}}}}
	}
	return nil
}

func refuseCommands(exec *cursorpb.ExecServerMessage, reason string) *cursorpb.ExecClientMessage {
	switch x := exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_ShellArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ShellResult{ShellResult: shellRejected(x.ShellArgs, reason)}}
	case *cursorpb.ExecServerMessage_MiniSweAgentBashArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_MiniSweAgentBashResult{
			MiniSweAgentBashResult: shellRejected(x.MiniSweAgentBashArgs, reason)}}
	case *cursorpb.ExecServerMessage_ShellStreamArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ShellStream{ShellStream: &cursorpb.ShellStream{
			Event: &cursorpb.ShellStream_Rejected{Rejected: shellRejected(x.ShellStreamArgs, reason).GetRejected()}}}}
	case *cursorpb.ExecServerMessage_BackgroundShellSpawnArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_BackgroundShellSpawnResult{
			BackgroundShellSpawnResult: &cursorpb.BackgroundShellSpawnResult{Result: &cursorpb.BackgroundShellSpawnResult_Rejected{
				Rejected: &cursorpb.ShellRejected{
					Command:          x.BackgroundShellSpawnArgs.GetCommand(),
					WorkingDirectory: x.BackgroundShellSpawnArgs.GetWorkingDirectory(), Reason: reason,
				}}}}}
	case *cursorpb.ExecServerMessage_WriteShellStdinArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_WriteShellStdinResult{
			WriteShellStdinResult: &cursorpb.WriteShellStdinResult{Result: &cursorpb.WriteShellStdinResult_Error{
				Error: &cursorpb.WriteShellStdinError{Error: reason}}}}}
	}
	return nil
}

func shellRejected(args *cursorpb.ShellArgs, reason string) *cursorpb.ShellResult {
	return &cursorpb.ShellResult{Result: &cursorpb.ShellResult_Rejected{Rejected: &cursorpb.ShellRejected{
		Command: args.GetCommand(), WorkingDirectory: args.GetWorkingDirectory(), Reason: reason,
	}}}
}

func refuseTools(exec *cursorpb.ExecServerMessage, reason string) *cursorpb.ExecClientMessage {
	switch exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_McpArgs:
		return mcpResult(&cursorpb.McpResult{Result: &cursorpb.McpResult_Rejected{Rejected: &cursorpb.McpRejected{Reason: reason}}})
	case *cursorpb.ExecServerMessage_McpStateExecArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_McpStateExecResult{
			McpStateExecResult: &cursorpb.McpStateExecResult{Result: &cursorpb.McpStateExecResult_Rejected{
				Rejected: &cursorpb.McpStateRejected{Reason: reason}}}}}
	case *cursorpb.ExecServerMessage_RequestContextArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_RequestContextResult{
			RequestContextResult: &cursorpb.RequestContextResult{Result: &cursorpb.RequestContextResult_Rejected{
				Rejected: &cursorpb.RequestContextRejected{Reason: reason}}}}}
	}
	return nil
}

func mcpResult(result *cursorpb.McpResult) *cursorpb.ExecClientMessage {
	return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_McpResult{McpResult: result}}
}

func approved() *cursorpb.ExecClientMessage {
	return mcpResult(&cursorpb.McpResult{Result: &cursorpb.McpResult_Approved{Approved: &cursorpb.McpApproved{}}})
}

// refusePi knows the family whose results are one number above the requests.
func refusePi(exec *cursorpb.ExecServerMessage, reason string) *cursorpb.ExecClientMessage {
	switch exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_PiEditArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiEditResult{PiEditResult: &cursorpb.PiEditExecResult{
			Result: &cursorpb.PiEditExecResult_Rejected{Rejected: &cursorpb.PiEditExecRejected{Reason: reason}}}}}
	case *cursorpb.ExecServerMessage_PiWriteArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiWriteResult{PiWriteResult: &cursorpb.PiWriteExecResult{
			Result: &cursorpb.PiWriteExecResult_Rejected{Rejected: &cursorpb.PiWriteExecRejected{Reason: reason}}}}}
	}
	return piError(exec, reason)
}

// piError is the answer to a request of the Pi family that was tried and
// failed; nil for other requests.
func piError(exec *cursorpb.ExecServerMessage, text string) *cursorpb.ExecClientMessage {
	switch exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_PiReadArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiReadResult{PiReadResult: &cursorpb.PiReadExecResult{
			Result: &cursorpb.PiReadExecResult_Error{Error: &cursorpb.PiReadExecError{Error: text}}}}}
	case *cursorpb.ExecServerMessage_PiBashArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiBashResult{PiBashResult: &cursorpb.PiBashExecResult{
			Result: &cursorpb.PiBashExecResult_Error{Error: &cursorpb.PiBashExecError{Error: text}}}}}
	case *cursorpb.ExecServerMessage_PiEditArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiEditResult{PiEditResult: &cursorpb.PiEditExecResult{
			Result: &cursorpb.PiEditExecResult_Error{Error: &cursorpb.PiEditExecError{Error: text}}}}}
	case *cursorpb.ExecServerMessage_PiWriteArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiWriteResult{PiWriteResult: &cursorpb.PiWriteExecResult{
			Result: &cursorpb.PiWriteExecResult_Error{Error: &cursorpb.PiWriteExecError{Error: text}}}}}
	case *cursorpb.ExecServerMessage_PiGrepArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiGrepResult{PiGrepResult: &cursorpb.PiGrepExecResult{
			Result: &cursorpb.PiGrepExecResult_Error{Error: &cursorpb.PiGrepExecError{Error: text}}}}}
	case *cursorpb.ExecServerMessage_PiFindArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiFindResult{PiFindResult: &cursorpb.PiFindExecResult{
			Result: &cursorpb.PiFindExecResult_Error{Error: &cursorpb.PiFindExecError{Error: text}}}}}
	case *cursorpb.ExecServerMessage_PiLsArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiLsResult{PiLsResult: &cursorpb.PiLsExecResult{
			Result: &cursorpb.PiLsExecResult_Error{Error: &cursorpb.PiLsExecError{Error: text}}}}}
	}
	return nil
}

func refuseOthers(exec *cursorpb.ExecServerMessage, reason string) *cursorpb.ExecClientMessage {
	switch x := exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_FetchArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_FetchResult{FetchResult: &cursorpb.FetchResult{
			Result: &cursorpb.FetchResult_Error{Error: &cursorpb.FetchError{Url: x.FetchArgs.GetUrl(), Error: reason}}}}}
	case *cursorpb.ExecServerMessage_RecordScreenArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_RecordScreenResult{RecordScreenResult: &cursorpb.RecordScreenResult{
			Result: &cursorpb.RecordScreenResult_Failure{Failure: &cursorpb.RecordScreenFailure{Error: reason}}}}}
	case *cursorpb.ExecServerMessage_ComputerUseArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ComputerUseResult{ComputerUseResult: &cursorpb.ComputerUseResult{
			Result: &cursorpb.ComputerUseResult_Error{Error: &cursorpb.ComputerUseError{Error: reason}}}}}
	case *cursorpb.ExecServerMessage_SubagentArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_SubagentResult{SubagentResult: &cursorpb.SubagentResult{
			Result: &cursorpb.SubagentResult_Error{Error: &cursorpb.SubagentError{Error: reason}}}}}
	case *cursorpb.ExecServerMessage_SmartModeClassifierArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_SmartModeClassifierResult{
			SmartModeClassifierResult: &cursorpb.SmartModeClassifierResult{Result: &cursorpb.SmartModeClassifierResult_Error{
				Error: &cursorpb.SmartModeClassifierError{Error: reason}}}}}
	case *cursorpb.ExecServerMessage_ConversationSearchArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ConversationSearchResult{
			ConversationSearchResult: &cursorpb.ConversationSearchResult{Result: &cursorpb.ConversationSearchResult_Error{
				Error: &cursorpb.ConversationSearchError{Error: reason}}}}}
	case *cursorpb.ExecServerMessage_AgentStoreConflictArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_AgentStoreConflictResult{
			AgentStoreConflictResult: &cursorpb.AgentStoreConflictResult{Result: &cursorpb.AgentStoreConflictResult_Error{
				Error: &cursorpb.AgentStoreConflictError{Error: reason}}}}}
	}
	return nil
}
