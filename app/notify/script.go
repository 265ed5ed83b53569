package notify

// appleScript returns the arguments of osascript. The texts are arguments of
// the script, so that nothing in them is taken for a part of it.
func appleScript(n Note) []string {
	return []string{
		"-e", "on run argv",
		"-e", "display notification (item 2 of argv) with title (item 1 of argv)",
		"-e", "end run",
		n.Title, n.Body,
	}
}
