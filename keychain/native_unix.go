//go:build unix && !darwin

package keychain

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	ss "github.com/zalando/go-keyring/secret_service"
)

const (
	remedyLocked = "unlock it, or make a keyring if there is none, in your password manager or by logging in to the desktop again, then try again"
	remedyAbsent = "start a Secret Service such as gnome-keyring, KWallet or KeePassXC, or choose another token_store"
)

// reachNative asks the Secret Service for a sign of life and whether the
// collection that go-keyring uses is locked.
func reachNative() (locked bool, err error) { return reachThrough(os.Getenv, "/run/user") }

func reachThrough(getenv func(string) string, runUser string) (locked bool, err error) {
	// With neither of these two godbus would start a dbus-daemon of its own
	// through dbus-launch, and nobody would ever end it.
	if !haveSessionBus(getenv, runUser) {
		return false, fmt.Errorf("%w: there is no D-Bus session; %s", ErrUnavailable, remedyAbsent)
	}
	service, err := ss.NewSecretService() // the connection go-keyring shares with everyone in this process
	if err != nil {
		return false, fmt.Errorf("%w: no connection to the D-Bus session: %w; %s", ErrUnavailable, err, remedyAbsent)
	}
	ping := service.Object("org.freedesktop.secrets", "/org/freedesktop/secrets").Call("org.freedesktop.DBus.Peer.Ping", 0)
	if ping.Err != nil {
		return false, fmt.Errorf("%w: %w; %s", ErrUnavailable, ping.Err, remedyAbsent)
	}
	property, err := service.GetLoginCollection().GetProperty("org.freedesktop.Secret.Collection.Locked")
	if err != nil {
		return false, nil // the call itself will say what is wrong
	}
	locked, _ = property.Value().(bool)
	return locked, nil
}

// haveSessionBus looks for the bus in the order in which godbus does.
func haveSessionBus(getenv func(string) string, runUser string) bool {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && !strings.HasPrefix(address, "autolaunch:") {
		return true
	}
	info, err := os.Stat(fmt.Sprintf("%s/%d/bus", runUser, os.Getuid()))
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

// lockedText matches what go-keyring and the Secret Services say; neither has a
// type for it.
var lockedText = regexp.MustCompile(`(?i)failed to unlock|\b(is)?locked\b`)

func isLocked(err error) bool { return lockedText.MatchString(err.Error()) }
