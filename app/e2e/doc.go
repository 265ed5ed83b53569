// Package e2e tests the built programs from outside: real clients from npm
// against "cursortray serve", with the demo and with a fake cursor-agent. It
// holds tests only, behind the build tag e2e, since they install packages on
// their first run and start many processes. Every test ends what it started.
//
// The packages go into the folder that CURSORTRAY_E2E_CACHE names, else into
// the user's cache folder, and are used again.
package e2e
