package notify

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"cursortray/app"
)

// commandTime bounds a program that shows a note.
const commandTime = 20 * time.Second

// commands shows notes by starting a program for each, which tells nothing of
// clicks.
type commands struct {
	command func(ctx context.Context, n Note) *exec.Cmd
}

func (c commands) clicks() <-chan app.Action { return nil }

func (c commands) close() {}

func (c commands) show(ctx context.Context, n Note) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	out, err := c.command(ctx, n).CombinedOutput()
	if err != nil && len(out) > 0 {
		err = errors.Join(err, errors.New(string(out[:min(len(out), 200)])))
	}
	return err
}

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

const (
	toastTitle = "CURSORTRAY_TOAST_TITLE"
	toastBody  = "CURSORTRAY_TOAST_BODY"
)

// toastScript shows a toast in PowerShell, which has an identity that Windows
// shows toasts of. The texts come from the environment, so that nothing in them
// is taken for a part of it.
const toastScript = `$ErrorActionPreference = 'Stop'
[Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime] | Out-Null
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$text = $xml.GetElementsByTagName('text')
$text.Item(0).AppendChild($xml.CreateTextNode($env:` + toastTitle + `)) | Out-Null
$text.Item(1).AppendChild($xml.CreateTextNode($env:` + toastBody + `)) | Out-Null
$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($id).Show([Windows.UI.Notifications.ToastNotification]::new($xml))
`
