package dashboard

import "cursortray/app"

func startPage() *page {
	return &page{
		name: "start", title: "Getting started",
		parts: []string{"start.login", "start.editor", "start.try", "start.more"},
		view:  func(_ *Dashboard, v *visit) any { return startOf(v) },
		opens: app.LookForEditors{},
	}
}

// start is the page of the first start: three steps.
type start struct {
	LoggedIn, Pending, Unread bool
	Who                       string
	Failure                   string
	ViaCLI                    bool // the CLI's login is used
	Editors                   []editor
	SetUp                     int
	BaseURL                   string
	Model                     string
	Tried                     bool
	Autostart                 app.AutostartStatus
}

func startOf(v *visit) start {
	a := v.snap.Account
	s := start{
		LoggedIn: a.State == app.LoggedIn || a.State == app.NoAccount, Pending: a.State == app.LoginPending, Unread: a.State == app.Unread,
		Who: a.Email, BaseURL: v.snap.Proxy.BaseURL, Model: "auto", Autostart: v.snap.Autostart,
	}
	if f := a.Login.Failure; f != nil {
		s.Failure = sentence(f.Message)
	}
	if !s.LoggedIn && v.snap.Backend.Account != "" && v.snap.Backend.Problem == nil {
		s.LoggedIn, s.ViaCLI, s.Who = true, true, v.snap.Backend.Account
	}
	if list := v.snap.Models.List; list != nil && len(list.Families) > 0 {
		s.Model = list.Families[0].ID
		for _, f := range list.Families {
			if f.Default {
				s.Model = f.ID
			}
		}
	}
	_, s.Tried = v.snap.Conversations.Newest()
	for _, e := range editorsIn(v.snap) {
		if e.Found || e.SetUp {
			s.Editors = append(s.Editors, e)
		}
		if e.SetUp {
			s.SetUp++
		}
	}
	return s
}
