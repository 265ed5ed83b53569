package agentrpc

const (
	systemName  = "darwin"
	systemShell = "zsh"
)
