//go:build !windows && !darwin

package tray

import (
	"context"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"cursortray/assets"
)

const (
	portalName     = "org.freedesktop.portal.Desktop"
	portalPath     = "/org/freedesktop/portal/desktop"
	portalSettings = "org.freedesktop.portal.Settings"
	appearance     = "org.freedesktop.appearance"
	colorScheme    = "color-scheme"
	schemeDark     = uint32(1)
	schemeLight    = uint32(2)
	settingChanged = portalSettings + ".SettingChanged"
)

// watchPanel tells what colour the panel has, as far as the desktop lets one
// know: GNOME's bar is always dark, Plasma's follows the colour scheme. Others
// theme their panels apart from everything else, so they get the icon that
// shows on both.
func watchPanel(ctx context.Context, conn *dbus.Conn, desktops string, panels chan<- assets.Panel) {
	names := strings.Split(strings.ToUpper(desktops), ":")
	switch {
	case slices.Contains(names, "GNOME"):
		panels <- assets.DarkPanel
	case slices.Contains(names, "KDE"):
		watchScheme(ctx, conn, panels)
	}
}

// watchScheme follows the colour scheme that the desktop portal publishes.
func watchScheme(ctx context.Context, conn *dbus.Conn, panels chan<- assets.Panel) {
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	defer conn.RemoveSignal(signals)
	match := []dbus.MatchOption{
		dbus.WithMatchObjectPath(portalPath),
		dbus.WithMatchInterface(portalSettings),
		dbus.WithMatchMember("SettingChanged"),
		dbus.WithMatchArg(0, appearance),
	}
	if err := conn.AddMatchSignalContext(ctx, match...); err != nil {
		return
	}
	send := func(p assets.Panel) {
		select {
		case panels <- p:
		case <-ctx.Done():
		}
	}
	var value dbus.Variant
	call := conn.Object(portalName, portalPath).CallWithContext(ctx, portalSettings+".Read", dbus.FlagNoAutoStart, appearance, colorScheme)
	if call.Store(&value) == nil {
		send(schemePanel(value))
	}
	for {
		select {
		case sig, open := <-signals:
			if !open {
				return
			}
			if sig.Name != settingChanged || len(sig.Body) != 3 || sig.Body[0] != appearance || sig.Body[1] != colorScheme {
				continue
			}
			if v, ok := sig.Body[2].(dbus.Variant); ok {
				send(schemePanel(v))
			}
		case <-ctx.Done():
			return
		}
	}
}

// schemePanel reads a colour scheme, which Read wraps in two variants and the
// signal in one.
func schemePanel(v dbus.Variant) assets.Panel {
	if inner, ok := v.Value().(dbus.Variant); ok {
		v = inner
	}
	switch v.Value() {
	case schemeDark:
		return assets.DarkPanel
	case schemeLight:
		return assets.LightPanel
	default:
		return assets.AnyPanel
	}
}
