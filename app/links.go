package app

// Link is a page of Cursor's site that the menu leads to.
type Link int

const (
	AccountPage Link = iota // the account and its devices
	UsagePage               // what is used of the plan
	InstallPage             // how to install cursor-agent
)

func (l Link) url() string {
	switch l {
	case UsagePage:
		return "https://cursor.com/dashboard?tab=usage"
	case InstallPage:
		return "https://cursor.com/cli"
	default:
		return "https://cursor.com/dashboard?tab=settings"
	}
}

func (m *machine) openLink(page Link) {
	if page < AccountPage || page > InstallPage {
		return
	}
	target, open := page.url(), m.app.cfg.Open
	if m.quitting {
		return
	}
	if open == nil {
		m.notify("No browser here. Open it yourself: " + target)
		return
	}
	m.show(open, target, func(m *machine, err error) {
		m.app.cfg.Logger.Warn("not opened", "what", target, "error", err)
		m.notify("Not opened. Do it yourself: " + target)
	})
}
