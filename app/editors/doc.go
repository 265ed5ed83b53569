// Package editors sets an editor up to use cursortray's local port, checks it
// and undoes it: which editors there are, where each keeps its settings on each
// system, and what is to be written there.
//
// It edits files surgically (package confedit), keeps a backup and a record of
// what it did, and leaves a file alone that it cannot read: then the user gets
// the text to paste. It makes no keys, knows nothing of models or prices beyond
// the values it is given, and starts no goroutines.
package editors
