package cursor

import (
	"context"
	"os/exec"
	"strings"
)

var platformUUID = pattern(`"IOPlatformUUID" = "([^"]+)"`)

// platformID returns the UUID of the Mac, which only IOKit and its tool tell.
func platformID(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output()
	if err != nil {
		return ""
	}
	found := platformUUID().FindSubmatch(out)
	if found == nil {
		return ""
	}
	return strings.ToLower(string(found[1]))
}
