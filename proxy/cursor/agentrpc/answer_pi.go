package agentrpc

import (
	"math"

	"cursortray/proxy/cursor/cursorpb"
)

// piAnswer answers the Pi family, whose results are text as the tool gave it;
// nil for all else.
func piAnswer(exec *cursorpb.ExecServerMessage, c content) *cursorpb.ExecClientMessage {
	if exec.GetPiBashArgs() != nil && exitCode(c) != 0 {
		c.failed = true
	}
	if c.failed {
		return piError(exec, c.text)
	}
	output := c.text
	if output == "" && exec.GetPiReadArgs() == nil {
		output = noOutput
	}
	cut := truncation(c)
	switch exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_PiReadArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiReadResult{PiReadResult: &cursorpb.PiReadExecResult{
			Result: &cursorpb.PiReadExecResult_Success{Success: &cursorpb.PiReadExecSuccess{Output: output, Truncation: cut}}}}}
	case *cursorpb.ExecServerMessage_PiBashArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiBashResult{PiBashResult: &cursorpb.PiBashExecResult{
			Result: &cursorpb.PiBashExecResult_Success{Success: &cursorpb.PiBashExecSuccess{Output: output, Truncation: cut}}}}}
	case *cursorpb.ExecServerMessage_PiEditArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiEditResult{PiEditResult: &cursorpb.PiEditExecResult{
			Result: &cursorpb.PiEditExecResult_Success{Success: &cursorpb.PiEditExecSuccess{Output: output}}}}}
	case *cursorpb.ExecServerMessage_PiWriteArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiWriteResult{PiWriteResult: &cursorpb.PiWriteExecResult{
			Result: &cursorpb.PiWriteExecResult_Success{Success: &cursorpb.PiWriteExecSuccess{Output: output}}}}}
	case *cursorpb.ExecServerMessage_PiGrepArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiGrepResult{PiGrepResult: &cursorpb.PiGrepExecResult{
			Result: &cursorpb.PiGrepExecResult_Success{Success: &cursorpb.PiGrepExecSuccess{Output: output, Truncation: cut}}}}}
	case *cursorpb.ExecServerMessage_PiFindArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiFindResult{PiFindResult: &cursorpb.PiFindExecResult{
			Result: &cursorpb.PiFindExecResult_Success{Success: &cursorpb.PiFindExecSuccess{Output: output, Truncation: cut}}}}}
	case *cursorpb.ExecServerMessage_PiLsArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_PiLsResult{PiLsResult: &cursorpb.PiLsExecResult{
			Result: &cursorpb.PiLsExecResult_Success{Success: &cursorpb.PiLsExecSuccess{Output: output, Truncation: cut}}}}}
	}
	return nil
}

// truncation is unset unless the text was cut here; what the client cut it says
// in its text.
func truncation(c content) *cursorpb.PiTruncation {
	if !c.cut {
		return nil
	}
	return &cursorpb.PiTruncation{
		Truncated: true, TruncatedBy: "bytes",
		OutputBytes: uint32(min(len(c.text), math.MaxUint32)), OutputLines: uint32(lineCount(c.text)),
	}
}
