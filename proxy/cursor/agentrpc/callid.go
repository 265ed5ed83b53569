package agentrpc

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// The id of a call says which run holds it, so that a result finds its run in
// whatever request it comes. Clients echo ids as they are; some cut or refuse
// those of more than 40 characters, or of others than letters, digits, "_" and
// "-". The key is random: no two runs of any program share one.
const (
	callPrefix = "call_"
	runKeySize = 26
	maxCallID  = 40
)

// newRunKey returns a key of 26 capital letters and digits.
func newRunKey() string { return rand.Text()[:runKeySize] }

// callID returns the id of the n-th call of a run. A run has far fewer than a
// hundred million of them.
func callID(runKey string, n int) string {
	return callPrefix + runKey + "_" + strconv.Itoa(n)
}

// parseCallID returns the run and the number that an id was made of. It reports
// false for ids from elsewhere.
func parseCallID(id string) (runKey string, n int, ok bool) {
	rest, ok := strings.CutPrefix(id, callPrefix)
	if !ok || len(id) > maxCallID || len(rest) < runKeySize+2 || rest[runKeySize] != '_' {
		return "", 0, false
	}
	runKey, digits := rest[:runKeySize], rest[runKeySize+1:]
	if strings.Trim(runKey, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return "", 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || strconv.FormatUint(number, 10) != digits {
		return "", 0, false
	}
	return runKey, int(number), true
}
