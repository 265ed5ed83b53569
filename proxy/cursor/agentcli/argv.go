package agentcli

// runArgs are the arguments of one run: the only place that builds them. The
// prompt is never among them, for systems limit one argument to 128 KB, 32 KB or
// 8 KB. Ask mode and no --force, because the CLI runs its own tools before
// anybody could forbid it.
func runArgs(model, dir, resume string, trust bool) []string {
	args := []string{
		"--print", "--output-format", "stream-json", "--stream-partial-output",
		"--mode", "ask", "--workspace", dir, "--model", model,
	}
	if trust {
		// Without it the CLI refuses a folder that it does not know, or waits
		// for ever for an answer.
		args = append(args, "--trust")
	}
	if resume != "" {
		args = append(args, "--resume", resume)
	}
	return args
}
