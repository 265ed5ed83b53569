package cursor

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// defaultVersion is a build of Cursor's CLI that the server was seen to accept
// in August 2026. It refuses very old ones, so the version is a setting.
const defaultVersion = "cli-2026.08.25-3e8eec8"

// Identity is what the client headers of a call to Cursor tell.
type Identity struct {
	version string
	privacy bool
	place   func() place // nil tells nothing
}

// place is what an Identity tells of this machine.
type place struct {
	timezone string // IANA name; "" is not sent
	device   deviceIDs
}

// IdentityConfig has the settings of an Identity.
type IdentityConfig struct {
	Version  string // of the client; "" is the newest installed CLI's, else a known one
	Versions string // folder with one folder per installed build of the CLI
	Share    bool   // lets Cursor keep prompts; false asks for privacy
}

var versionPattern = pattern(`^cli-[0-9A-Za-z][0-9A-Za-z._-]*$`)

// NewIdentity returns the identity of this machine. Its ids are the same at
// every start: an account with ever new ones soon has "too many devices". They
// are read at the first call to Cursor, for on macOS that takes a while.
func NewIdentity(ctx context.Context, cfg IdentityConfig) (*Identity, error) {
	version := cfg.Version
	if version == "" {
		version = installedVersion(cfg.Versions)
	}
	if version == "" {
		version = defaultVersion
	}
	if !versionPattern().MatchString(version) {
		return nil, fmt.Errorf("the client version %q does not look like %s", version, defaultVersion)
	}
	ctx = context.WithoutCancel(ctx) // reading has its own limit, and is done once for all calls
	return &Identity{version: version, privacy: !cfg.Share, place: sync.OnceValue(func() place {
		return place{TimeZone(), thisDevice(ctx)}
	})}, nil
}

// buildFolder matches the folders in which the CLI's installer keeps builds;
// their names begin with the date.
var buildFolder = pattern(`^[0-9]{4}\.[0-9]{2}\.[0-9]{2}-[0-9a-f]+$`)

// installedVersion returns the version of the newest build in dir, or "".
func installedVersion(dir string) string {
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return ""
	}
	newest := ""
	for _, e := range entries {
		if e.IsDir() && buildFolder().MatchString(e.Name()) {
			newest = max(newest, e.Name())
		}
	}
	if newest == "" {
		return ""
	}
	return "cli-" + newest
}

// apply sets the headers that every call has. The request id is new each time,
// also when a call is repeated.
func (i *Identity) apply(h http.Header, at time.Time) {
	h.Set("Connect-Protocol-Version", "1")
	h.Set("X-Cursor-Client-Type", "cli")
	h.Set("X-Cursor-Client-Version", i.version)
	h.Set("X-Ghost-Mode", fmt.Sprint(i.privacy))
	h.Set("X-Request-Id", newUUID())
	var here place
	if i.place != nil {
		here = i.place()
	}
	h.Set("X-Cursor-Checksum", checksum(at, here.device))
	if here.timezone != "" {
		h.Set("X-Cursor-Timezone", here.timezone)
	}
}

// TimeZone returns the IANA name of the local time zone, "" if the system does
// not tell it.
func TimeZone() string {
	if name := time.Local.String(); zoneName().MatchString(name) {
		return name
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return ""
	}
	if _, name, found := strings.Cut(filepath.ToSlash(target), "/zoneinfo/"); found && zoneName().MatchString(name) {
		return name
	}
	return ""
}

var zoneName = pattern(`^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+)+)$`)
