package main

// hasScreen tells whether a browser would have a place to be seen.
func (p *process) hasScreen() bool { return p.env("SSH_CONNECTION") == "" }
