package agentrpc

import (
	"strconv"
	"strings"

	"cursortray/proxy/chat/clienttool"
	"cursortray/proxy/cursor/cursorpb"
)

// commandAnswer answers commands and fetching; nil for all else.
func (p pendingExec) commandAnswer(c content) *cursorpb.ExecClientMessage {
	switch x := p.exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_ShellArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ShellResult{ShellResult: shellAnswer(x.ShellArgs, c)}}
	case *cursorpb.ExecServerMessage_MiniSweAgentBashArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_MiniSweAgentBashResult{
			MiniSweAgentBashResult: shellAnswer(x.MiniSweAgentBashArgs, c)}}
	case *cursorpb.ExecServerMessage_FetchArgs:
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_FetchResult{FetchResult: fetchAnswer(x.FetchArgs.GetUrl(), c)}}
	}
	return nil
}

func shellAnswer(args *cursorpb.ShellArgs, c content) *cursorpb.ShellResult {
	code := exitCode(c)
	if code == 0 {
		return &cursorpb.ShellResult{Result: &cursorpb.ShellResult_Success{Success: &cursorpb.ShellSuccess{
			Command: args.GetCommand(), WorkingDirectory: args.GetWorkingDirectory(), Stdout: c.text,
		}}}
	}
	failure := &cursorpb.ShellFailure{
		Command: args.GetCommand(), WorkingDirectory: args.GetWorkingDirectory(), ExitCode: code, Stdout: c.text,
	}
	if c.class == clienttool.Timeout {
		failure.Aborted = true
		failure.AbortReason = cursorpb.ShellAbortReason_SHELL_ABORT_REASON_TIMEOUT.Enum()
	}
	return &cursorpb.ShellResult{Result: &cursorpb.ShellResult_Failure{Failure: failure}}
}

// streamAnswer tells the same as events: a start, the output if there is any,
// and the exit.
func streamAnswer(args *cursorpb.ShellArgs, c content) []*cursorpb.ExecClientMessage {
	event := func(e *cursorpb.ShellStream) *cursorpb.ExecClientMessage {
		return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_ShellStream{ShellStream: e}}
	}
	events := []*cursorpb.ExecClientMessage{event(&cursorpb.ShellStream{Event: &cursorpb.ShellStream_Start{Start: &cursorpb.ShellStreamStart{}}})}
	if c.text != "" {
		events = append(events, event(&cursorpb.ShellStream{Event: &cursorpb.ShellStream_Stdout{Stdout: &cursorpb.ShellStreamStdout{Data: c.text}}}))
	}
	exit := &cursorpb.ShellStreamExit{Code: uint32(exitCode(c)), Cwd: args.GetWorkingDirectory()}
	if c.failed && c.class == clienttool.Timeout {
		exit.Aborted = true
		exit.AbortReason = cursorpb.ShellAbortReason_SHELL_ABORT_REASON_TIMEOUT.Enum()
	}
	return append(events, event(&cursorpb.ShellStream{Event: &cursorpb.ShellStream_Exit{Exit: exit}}))
}

// exitLine finds the line in which a client's tool tells of the exit code:
// "Exit code: 1", "Process exited with code 1", "exit status 1",
// "<exit_code>1</exit_code>", `"exit_code":1`.
var exitLine = pattern(`(?i)\bexit(?:ed)?(?:[_ ]?with)?[_ ]?(?:code|status)["'>]?\s*[:=>]?\s*["']?(-?\d{1,10})\b`)

// Where such a line stands: clients put it first or last.
const (
	firstLines  = 3
	lastLines   = 4
	longestLine = 200
)

// exitCode is 0 for success. What the client says counts; else the text, which
// is a guess that only looks where clients put it.
func exitCode(c content) int32 {
	lines := strings.Split(strings.TrimSpace(c.text), "\n")
	for i, line := range lines {
		if i >= firstLines && i < len(lines)-lastLines || len(line) > longestLine && !strings.HasPrefix(line, "{") {
			continue
		}
		m := exitLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		code, err := strconv.ParseInt(m[1], 10, 32)
		if err == nil && (code != 0 || !c.failed) {
			return int32(code)
		}
	}
	if c.failed {
		return 1
	}
	return 0
}

func fetchAnswer(url string, c content) *cursorpb.FetchResult {
	if c.failed {
		return &cursorpb.FetchResult{Result: &cursorpb.FetchResult_Error{Error: &cursorpb.FetchError{Url: url, Error: c.text}}}
	}
	return &cursorpb.FetchResult{Result: &cursorpb.FetchResult_Success{Success: &cursorpb.FetchSuccess{
		Url: url, Content: c.text, StatusCode: 200, ContentType: "text/markdown",
	}}}
}
