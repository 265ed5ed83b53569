package cursor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"strings"
	"time"
)

// deviceIDs tell this machine from others. They are hashes, so that they do
// not tell which machine it is.
type deviceIDs struct {
	machine string
	mac     string // "" if there is no network interface with an address
}

// thisDevice derives the ids from what the operating system has.
func thisDevice(ctx context.Context) deviceIDs {
	// ioreg, which macOS needs, has no reason to take longer.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var macs []string
	if interfaces, err := net.Interfaces(); err == nil {
		for _, i := range interfaces {
			macs = append(macs, i.HardwareAddr.String())
		}
	}
	hostname, _ := os.Hostname()
	return newDeviceIDs(platformID(ctx), macs, hostname)
}

func newDeviceIDs(platform string, macs []string, hostname string) deviceIDs {
	mac := ""
	for _, m := range macs {
		if strings.Trim(m, "0:") != "" {
			mac = m
			break
		}
	}
	var ids deviceIDs
	if mac != "" {
		ids.mac = hexHash(mac)
	}
	for _, text := range []string{strings.TrimSpace(platform), mac, hostname} {
		if text != "" {
			ids.machine = hexHash(text)
			break
		}
	}
	return ids
}

func hexHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
