// Package control is how a second cursortray command talks to the running
// one: HTTP over a Unix socket in a private folder, guarded by a file lock
// that one process holds. The folder's permissions are the only protection:
// the socket is for the user who runs cursortray.
//
//	GET  /status     Status
//	POST /do/{start,stop,quit}
//	GET  /key        the local key    POST /key  a new one
//	GET  /models     []Model
//	POST /login      begins a login with the browser: Attempt
//	GET  /login      waits for its end: Account    DELETE /login  cancels it
//	POST /login/key  logs in with an API key: Account
//	POST /logout
//	GET  /usage      Usage
//
// It keeps no state of its own and knows the proxy only as an Instance. The
// goroutines of a server end before Serve returns; a Client has none.
package control
