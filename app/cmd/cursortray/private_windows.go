package main

import "io/fs"

// readableByOthers: the profile's access list keeps others out, and the mode
// that Go shows says nothing about it.
func readableByOthers(fs.FileInfo) bool { return false }
