// Package editorsetup sets an editor up with everything that takes: a local key
// of its own, the models with their windows and prices, the edits of its files
// or the text to paste. It also checks, undoes and switches off.
//
// The facts about editors are in app/editors, keys are made by app/localkey;
// this package brings them together, for the menu and for the command line. It
// starts no goroutines.
package editorsetup
