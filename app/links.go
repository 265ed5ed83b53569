package app

import "context"

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
	m.openOther(page.url(), page.url())
}

// openOther opens something that is no part of a login. What is its name for
// people, which is shown where it does not open.
func (m *machine) openOther(target, what string) {
	open := m.app.cfg.Open
	if target == "" || m.quitting {
		return
	}
	if open == nil {
		m.notify("No browser here. Open it yourself: " + target)
		return
	}
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		ctx, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		err := open(ctx, target)
		if ctx.Err() != nil {
			err = nil // a program that stays is a browser, or an editor
		}
		return func(m *machine) {
			if err != nil {
				m.app.cfg.Logger.Warn("not opened", "what", what, "error", err)
				m.notify("Not opened. Do it yourself: " + target)
			}
		}
	})
}
