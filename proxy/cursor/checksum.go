package cursor

import (
	"encoding/base64"
	"time"
)

// checksum is the value of the header x-cursor-checksum at a time: the time in
// steps of about 17 minutes, disguised, and the device ids.
func checksum(at time.Time, ids deviceIDs) string {
	n := uint32(at.UnixMilli() / 1_000_000)
	// The genuine client means to write 48 bits, but shifts a 32-bit number by
	// 40 and 32, which JavaScript takes for 8 and 0.
	in := [6]byte{byte(n >> 8), byte(n), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	var out [6]byte
	last := byte(165)
	for i, b := range in {
		last = (b ^ last) + byte(i)
		out[i] = last
	}
	text := base64.StdEncoding.EncodeToString(out[:]) + ids.machine
	if ids.mac != "" {
		text += "/" + ids.mac
	}
	return text
}
