package notify

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

func newDesktop() desktop {
	return commands{func(ctx context.Context, n Note) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "powershell.exe", "-NoProfile", "-NonInteractive", "-Command", "-")
		cmd.Stdin = strings.NewReader(toastScript)
		cmd.Env = append(os.Environ(), toastTitle+"="+n.Title, toastBody+"="+n.Body)
		cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
		return cmd
	}}
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
