package agentrpc

const (
	systemName  = "windows"
	systemShell = "powershell"
)
