package app

import "time"

// Action is something a user can ask for. The set is closed: what is in this
// file.
type Action interface{ isAction() }

// StartProxy opens the port, or tries again when it was blocked.
type StartProxy struct{}

// StopProxy closes the port and lets running answers end.
type StopProxy struct{}

// CopyBaseURL puts the base URL on the clipboard.
type CopyBaseURL struct{}

// CopyAnthropicURL puts the base URL for clients of the Anthropic API on the
// clipboard.
type CopyAnthropicURL struct{}

// CopyEnvironment puts shell lines on the clipboard that set what most clients
// read: URL and key, for both APIs.
type CopyEnvironment struct{}

// UseNextPort moves the proxy, for good, to the address that
// Snapshot.Proxy.Next names.
type UseNextPort struct{}

// SetStartProxy says whether the proxy starts with the program from now on.
type SetStartProxy struct{ On bool }

// OpenSettingsFile opens the settings file in the user's editor.
type OpenSettingsFile struct{}

// OpenLink opens a page of Cursor's site in the browser.
type OpenLink struct{ Page Link }

// CopyKey puts the local API key on the clipboard.
type CopyKey struct{}

// AllowSpending lifts all spend limits for a while; 0 ends that.
type AllowSpending struct{ For time.Duration }

// Recheck asks the back-end whether it would serve a request now.
type Recheck struct{}

// SignIn begins a login and opens its page in the browser, unless NoBrowser is
// set. While a login is under way it does nothing.
type SignIn struct{ NoBrowser bool }

// SignInWithKey leads the user to the login with an API key, see
// App.LoginWithKey.
type SignInWithKey struct{}

// CancelSignIn ends the login that is under way.
type CancelSignIn struct{}

// OpenLoginPage opens the page of the login that is under way again.
type OpenLoginPage struct{}

// CopyLoginURL puts the address of that page on the clipboard.
type CopyLoginURL struct{}

// KeepLoginInFile moves the login and the local keys to private files, to which
// the user agrees with it.
type KeepLoginInFile struct{}

// SignOut ends the login at Cursor.
type SignOut struct{}

// CopyModel puts the id of a model on the clipboard.
type CopyModel struct{ ID string }

// ChooseModel makes a model the one of requests that name none; "auto" leaves
// that to Cursor.
type ChooseModel struct{ ID string }

// Refresh fetches the account's models and the figures of its plan.
type Refresh struct{}

// ChooseBackend fixes the way to Cursor of new conversations, or with "auto"
// none.
type ChooseBackend struct{ Setting string }

// MenuOpened tells that somebody looks at the menu.
type MenuOpened struct{}

// OpenDashboard shows a page of the dashboard in the browser; "" is the first
// one. See App.DashboardLink for the names.
type OpenDashboard struct{ Page string }

// SetAutostart says whether the program starts when its user logs in. It starts
// and ends nothing now.
type SetAutostart struct{ On bool }

// RecordNext makes the next request for a model one that is written down for a
// bug report, without what is said in it.
type RecordNext struct{}

// CancelRecord waits for no such request any more.
type CancelRecord struct{}

// SetNotifications shows notifications from now on, or none. On, they are those of
// the setting, or all if it has none.
type SetNotifications struct{ On bool }

// ChooseNotifications says which kinds of notifications are shown from now on: a
// list, separated by commas; "" is none.
type ChooseNotifications struct{ Kinds string }

// TrayMissing tells why nothing shows the icon; "" when something does. The tray
// says it.
type TrayMissing struct{ Reason string }

// OpenLogFile shows the log in the program that the desktop has for text.
type OpenLogFile struct{}

// SetUpEditor sets an editor up to use the proxy.
type SetUpEditor struct{ ID string }

// UndoEditor takes that back.
type UndoEditor struct{ ID string }

// SwitchEditor refuses an editor's requests, or not any more.
type SwitchEditor struct {
	ID  string
	Off bool
}

// LookForEditors brings the list of editors up to date.
type LookForEditors struct{}

func (SetUpEditor) isAction()    {}
func (UndoEditor) isAction()     {}
func (SwitchEditor) isAction()   {}
func (LookForEditors) isAction() {}

// Quit ends the App. A second one does not wait for running answers.
type Quit struct{}

func (StartProxy) isAction()  {}
func (StopProxy) isAction()   {}
func (CopyBaseURL) isAction() {}
func (CopyKey) isAction()     {}

func (CopyAnthropicURL) isAction() {}
func (CopyEnvironment) isAction()  {}
func (UseNextPort) isAction()      {}
func (SetStartProxy) isAction()    {}
func (OpenSettingsFile) isAction() {}
func (OpenLink) isAction()         {}
func (AllowSpending) isAction()    {}

func (Recheck) isAction()          {}
func (SignIn) isAction()           {}
func (SignInWithKey) isAction()    {}
func (CancelSignIn) isAction()     {}
func (OpenLoginPage) isAction()    {}
func (CopyLoginURL) isAction()     {}
func (SignOut) isAction()          {}
func (KeepLoginInFile) isAction()  {}
func (CopyModel) isAction()        {}
func (ChooseModel) isAction()      {}
func (Refresh) isAction()          {}
func (ChooseBackend) isAction()    {}
func (MenuOpened) isAction()       {}
func (OpenDashboard) isAction()    {}
func (SetAutostart) isAction()     {}
func (RecordNext) isAction()       {}
func (CancelRecord) isAction()     {}
func (SetNotifications) isAction() {}
func (TrayMissing) isAction()      {}
func (OpenLogFile) isAction()      {}
func (Quit) isAction()             {}

func (ChooseNotifications) isAction() {}
