// Package wirejson is the JSON of all API dialects, as far as it is the same in
// all of them: it reads request bodies without reflection, in one pass and with
// the full path of every fault, and appends texts to answers. What the members
// mean is up to the front-ends. It does no I/O and starts no goroutine.
package wirejson
