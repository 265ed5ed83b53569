// Package config holds what the user can set: one table of settings that
// drives the file's keys, the environment variables, defaults, checks and
// `cursortray help settings`, and the settings file itself. It also knows the
// operating system's folders. A value comes from the environment, else from
// the file, else from the default; the command line may Override it. The
// package neither watches the file nor starts goroutines.
package config
