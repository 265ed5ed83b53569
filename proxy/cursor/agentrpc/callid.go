package agentrpc

import (
	"crypto/rand"
	"strconv"
)

// newRunKey returns what begins the ids of a run's calls: 26 capital letters and
// digits, random, so that no two runs of any program share an id.
func newRunKey() string { return rand.Text() }

// callID returns the id of the n-th call of a run. Clients echo ids as they are,
// but some cut or refuse those of more than 40 characters, or of others than
// letters, digits, "_" and "-". A run has far fewer than a hundred million
// calls.
func callID(runKey string, n int) string {
	return "call_" + runKey + "_" + strconv.Itoa(n)
}
