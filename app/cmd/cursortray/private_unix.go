//go:build unix

package main

import "io/fs"

func readableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
