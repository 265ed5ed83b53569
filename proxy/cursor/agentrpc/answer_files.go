package agentrpc

import (
	"math"
	"strings"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// fileAnswer answers reading, writing and deleting; nil for all else.
func (p pendingExec) fileAnswer(c content) *cursorpb.ExecClientMessage {
	switch x := p.exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_ReadArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ReadResult{ReadResult: readAnswer(x.ReadArgs.GetPath(), p.ranged, c)}}
	case *cursorpb.ExecServerMessage_WriteArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_WriteResult{WriteResult: writeAnswer(x.WriteArgs, c)}}
	case *cursorpb.ExecServerMessage_DeleteArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_DeleteResult{DeleteResult: deleteAnswer(x.DeleteArgs.GetPath(), c)}}
	}
	return nil
}

// readAnswer gives the text as the client's tool gave it, line numbers and all:
// taking them off would need to know whose tool it was.
func readAnswer(path string, ranged bool, c content) *cursorpb.ReadResult {
	if c.failed {
		return &cursorpb.ReadResult{Result: &cursorpb.ReadResult_Error{Error: &cursorpb.ReadError{Path: path, Error: c.text}}}
	}
	success := &cursorpb.ReadSuccess{
		Path: path, RangeApplied: ranged, Truncated: c.cut,
		TotalLines: lineCount(c.text), FileSize: int64(len(c.text)),
		Output: &cursorpb.ReadSuccess_Content{Content: c.text},
	}
	if c.image != nil && strings.TrimSpace(c.text) == "" {
		success.TotalLines, success.FileSize = 0, int64(len(c.image.Data))
		success.Output = &cursorpb.ReadSuccess_Data{Data: c.image.Data}
	}
	return &cursorpb.ReadResult{Result: &cursorpb.ReadResult_Success{Success: success}}
}

// writeAnswer describes what was handed to the client; what its tool says about
// it has no place in a success.
func writeAnswer(args *cursorpb.WriteArgs, c content) *cursorpb.WriteResult {
	if c.failed {
		return &cursorpb.WriteResult{Result: &cursorpb.WriteResult_Error{Error: &cursorpb.WriteError{Path: args.GetPath(), Error: c.text}}}
	}
	written, _ := writtenText(args)
	success := &cursorpb.WriteSuccess{Path: args.GetPath(), LinesCreated: lineCount(written), FileSize: int32(min(len(written), math.MaxInt32))}
	if args.GetReturnFileContentAfterWrite() {
		success.FileContentAfterWrite = proto.String(valid(written))
	}
	return &cursorpb.WriteResult{Result: &cursorpb.WriteResult_Success{Success: success}}
}

func deleteAnswer(path string, c content) *cursorpb.DeleteResult {
	if c.failed {
		return &cursorpb.DeleteResult{Result: &cursorpb.DeleteResult_Error{Error: &cursorpb.DeleteError{Path: path, Error: c.text}}}
	}
	return &cursorpb.DeleteResult{Result: &cursorpb.DeleteResult_Success{Success: &cursorpb.DeleteSuccess{Path: path, DeletedFile: path}}}
}

// lineCount counts lines, the last one also without its end.
func lineCount(text string) int32 {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return int32(min(n, math.MaxInt32))
}
