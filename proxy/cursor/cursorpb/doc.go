// Package cursorpb holds the messages of Cursor's agent protocol, the calls
// that carry them and the codec that writes them the same way every time. The
// protocol is private and without a version; the .proto files were written for
// this program from what open clients and servers send.
//
// Three rules shape them. What must travel unchanged is bytes: a checkpoint
// goes back to the service exactly as it came. What no client needs is bytes
// too, so that an unexpected part of it cannot make a whole message
// undecodable. And every field number was compared with a table of several
// independent implementations, which a test does again.
//
// The package holds no state and starts no goroutines. It decides nothing: what
// to answer to what is agentrpc's business.
package cursorpb

//go:generate go run ./generate
