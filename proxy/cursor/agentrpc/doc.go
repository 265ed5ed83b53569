// Package agentrpc is the chat.Backend that speaks Cursor's agent protocol: one
// duplex call per turn, which stays open while the client executes a tool. It
// gives the tools of the client to the model, answers everything else that the
// service asks for by itself, and keeps the conversations that the service
// hands back, in memory and, if wanted, on disk. It touches no file of the user
// and runs no command.
//
// Goroutines: an open run has one that writes, and one that reads while no turn
// is attached to it; an ended turn may have one that says good-bye to the
// service. All belong to the Backend, whose Close waits for their end.
package agentrpc
