package app

// Action is something a user can ask for. The set is closed: StartProxy,
// StopProxy, CopyBaseURL, CopyKey, Recheck and Quit.
type Action interface{ isAction() }

// StartProxy opens the port, or tries again when it was blocked.
type StartProxy struct{}

// StopProxy closes the port and lets running answers end.
type StopProxy struct{}

// CopyBaseURL puts the base URL on the clipboard.
type CopyBaseURL struct{}

// CopyKey puts the local API key on the clipboard.
type CopyKey struct{}

// Recheck asks the back-end whether it would serve a request now.
type Recheck struct{}

// Quit ends the App. A second one does not wait for running answers.
type Quit struct{}

func (StartProxy) isAction()  {}
func (StopProxy) isAction()   {}
func (CopyBaseURL) isAction() {}
func (CopyKey) isAction()     {}
func (Recheck) isAction()     {}
func (Quit) isAction()        {}
