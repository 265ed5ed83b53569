package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"cursortray/app/editors"
	"cursortray/app/logfile"
)

// checkAutostart looks at the entry that starts the program at login.
func (p *process) checkAutostart(_ context.Context, _ *setup) []finding {
	entry, err := p.autostart()
	if err != nil {
		return []finding{{"autostart", doubt, err.Error(), ""}}
	}
	state, err := entry.State()
	if err != nil {
		return []finding{{"autostart", doubt, err.Error(), "cursortray autostart off, then on, makes a new entry"}}
	}
	f := finding{Name: "autostart", State: good, Detail: autostartText(state)}
	if state.On {
		if _, err := os.Stat(state.Program); err != nil {
			f.State, f.Detail = bad, state.Where+" starts "+state.Program+", which is not there"
			f.Remedy = "cursortray autostart on, with the cursortray that you want"
		}
	}
	return []finding{f}
}

// checkLog looks whether there can be a log.
func (p *process) checkLog(_ context.Context, s *setup) []finding {
	path := logPath(s)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{{Name: "log", State: good, Detail: path + " does not exist yet"}}
	case err != nil:
		return []finding{{"log", doubt, "the log cannot be read: " + err.Error(), "make the folder yours"}}
	}
	// Opened for writing as the running instance does it, and left as it is.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return []finding{{"log", doubt, "the log cannot be written: " + err.Error(), "make the file yours, or remove it"}}
	}
	file.Close()
	detail := fmt.Sprintf("%s, %d KiB of at most %d in a file", path, (info.Size()+1023)>>10, logfile.DefaultSize>>10)
	return []finding{{Name: "log", State: good, Detail: detail}}
}

// checkEditors looks at the files of the editors that were set up.
func (p *process) checkEditors(_ context.Context, s *setup) []finding {
	manager, err := p.newEditors(s)
	if err != nil {
		return []finding{{"editors", doubt, err.Error(), ""}}
	}
	return editorFindings(manager.List())
}

func editorFindings(list []editors.Info) []finding {
	var fine []string
	var trouble []finding
	for _, e := range list {
		switch e.State {
		case editors.SetUp:
			fine = append(fine, e.Name)
		case editors.Changed:
			trouble = append(trouble, finding{
				"editors", doubt, e.Name + " was set up, and its settings were changed since; it may no longer use cursortray",
				"cursortray setup " + e.ID + " sets it up again, cursortray setup " + e.ID + " --check tries it",
			})
		case editors.Broken:
			f := finding{"editors", doubt, e.Name + " cannot be set up: a settings file of it cannot be read", "correct the file, or follow cursortray setup " + e.ID + " --print"}
			if e.Problem != nil {
				f.Detail += ": " + e.Problem.Error()
			}
			trouble = append(trouble, f)
		}
	}
	if len(fine) > 0 {
		trouble = append([]finding{{Name: "editors", State: good, Detail: "set up: " + strings.Join(fine, ", ")}}, trouble...)
	}
	if len(trouble) == 0 {
		return []finding{{Name: "editors", State: good, Detail: "none was set up by cursortray; cursortray setup lists them"}}
	}
	return trouble
}

// checkCertificates looks at the file that a network which reads along needs.
func (p *process) checkCertificates(_ context.Context, _ *setup) []finding {
	path := p.env("SSL_CERT_FILE")
	if path == "" {
		return []finding{{Name: "certificates", State: good, Detail: "those of the system are used; SSL_CERT_FILE is not set"}}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return []finding{{"certificates", bad, "SSL_CERT_FILE cannot be read: " + err.Error(), "correct the variable, or unset it"}}
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return []finding{{"certificates", bad, "SSL_CERT_FILE names " + path + ", which holds no certificate in PEM form", "correct the variable, or unset it"}}
	}
	return []finding{{Name: "certificates", State: good, Detail: "those of the system and of SSL_CERT_FILE, " + path}}
}

// meaning says what each check is about.
func meaning(name string) string {
	return map[string]string{
		"settings":     "The settings file, and whether all of it is understood.",
		"instance":     "Whether a cursortray runs, and which.",
		"port":         "The address that editors send their requests to.",
		"key":          "The local key that keeps others off the port.",
		"desktop":      "Whether something on the desktop shows the icon.",
		"keychain":     "Where the login at Cursor is kept.",
		"account":      "The login at Cursor that the agent back-end uses.",
		"clock":        "A clock that is off makes certificates and logins look wrong.",
		"agent-host":   "The server of Cursor's that runs the models.",
		"cursor-agent": "Cursor's own command line, which the cli back-end uses.",
		"login":        "The login of Cursor's own command line.",
		"network":      "The variables that send traffic through a proxy.",
		"certificates": "Whose certificates of servers are trusted.",
		"editors":      "The settings of the editors that cursortray has set up.",
		"autostart":    "The entry that starts cursortray when you log in.",
		"log":          "The file that tells what went wrong.",
	}[name]
}
