package agentcli

import "cursortray/proxy/chat"

type chats struct{}

func newChats() *chats { return &chats{} }

func (b *Backend) planFor(req *chat.Request, l *lease) (plan, *chat.Error) {
	return b.freshPlan(req, l)
}
func chatGone(f *failure) bool { return false }
func (j *job) startOver() bool { return false }
func (a *attempt) remember()       {}
