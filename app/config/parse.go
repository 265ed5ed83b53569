package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parsers take a text (environment, command line) or the value that TOML gave.
// Their errors read on after "KEY: " and never hold the value: it may be a
// secret that was put behind the wrong key.

const (
	minDuration = time.Second
	maxDuration = 24 * time.Hour
)

func text(value any) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", errors.New("must be a text in quotes")
	}
	if strings.ContainsAny(s, "\x00\r\n") {
		return "", errors.New("must be a single line")
	}
	return strings.TrimSpace(s), nil
}

func secret(value any) (Secret, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	// It has to fit into an HTTP header as it is.
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return "", errors.New("must consist of printable ASCII characters without spaces")
		}
	}
	return Secret(s), nil
}

func oneOf(words ...string) func(any) (string, error) {
	return func(value any) (string, error) {
		s, err := text(value)
		if err != nil {
			return "", err
		}
		for _, w := range words {
			if strings.EqualFold(s, w) {
				return w, nil
			}
		}
		last := len(words) - 1
		return "", fmt.Errorf("must be %s or %s", strings.Join(words[:last], ", "), words[last])
	}
}

func level(value any) (slog.Level, error) {
	name, err := oneOf("debug", "info", "warn", "error")(value)
	if err != nil {
		return 0, err
	}
	var l slog.Level
	return l, l.UnmarshalText([]byte(name))
}

func boolean(value any) (bool, error) {
	switch v := value.(type) {
	case bool:
		return v, nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1", "yes", "on":
			return true, nil
		case "false", "0", "no", "off":
			return false, nil
		}
	}
	return false, errors.New("must be true or false")
}

func integer(low, high int) func(any) (int, error) {
	return func(value any) (int, error) {
		n, err := whole(value)
		if err != nil || n < int64(low) || n > int64(high) {
			return 0, fmt.Errorf("must be a whole number from %d to %d", low, high)
		}
		return int(n), nil
	}
}

func whole(value any) (int64, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case int:
		return int64(v), nil
	case string:
		return strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	}
	return 0, errors.New("not a whole number")
}

// duration reads "90s" and "1h30m"; a bare number counts seconds.
func duration(value any) (time.Duration, error) {
	d, ok := value.(time.Duration)
	if s, isText := value.(string); isText {
		var err error
		d, err = time.ParseDuration(strings.TrimSpace(s))
		ok = err == nil
	}
	if !ok {
		n, err := whole(value)
		// The bound keeps the product below from overflowing.
		if err != nil || n < 0 || n > int64(maxDuration/time.Second) {
			return 0, errors.New("must be a duration from 1s to 24h such as 90s or 5m")
		}
		d = time.Duration(n) * time.Second
	}
	if d < minDuration || d > maxDuration {
		return 0, errors.New("must be a duration from 1s to 24h such as 90s or 5m")
	}
	return d, nil
}

// shortDuration writes 2m instead of 2m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func list(value any) ([]string, error) {
	var items []string
	switch v := value.(type) {
	case string:
		items = strings.Split(v, ",")
	case []string:
		items = v
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, errors.New("must be a list of texts")
			}
			items = append(items, s)
		}
	default:
		return nil, errors.New("must be a list of texts")
	}
	var clean []string
	for _, item := range items {
		item, err := text(item)
		if err != nil {
			return nil, err
		}
		if item != "" {
			clean = append(clean, item)
		}
	}
	return clean, nil
}

// NotificationKinds lists what there are notifications of.
func NotificationKinds() []string {
	return []string{"login", "signed-in", "port", "proxy", "plan", "limit", "tray"}
}

func notifications(value any) ([]string, error) {
	kinds, err := list(value)
	if err != nil {
		return nil, err
	}
	if len(kinds) == 1 && strings.EqualFold(kinds[0], "all") {
		return NotificationKinds(), nil
	}
	if len(kinds) == 0 || len(kinds) == 1 && strings.EqualFold(kinds[0], "none") {
		return []string{"none"}, nil
	}
	for i, kind := range kinds {
		kinds[i] = strings.ToLower(kind)
		if !slices.Contains(NotificationKinds(), kinds[i]) {
			return nil, errors.New("must be all, none, or some of " + strings.Join(NotificationKinds(), ", "))
		}
	}
	return kinds, nil
}

func address(value any) (string, error) {
	s, err := text(value)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", errors.New("must be HOST:PORT, such as 127.0.0.1:8765")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", errors.New("must be HOST:PORT with a port from 0 to 65535")
	}
	return s, nil
}

// ErrRemote says that an address can be reached from other machines.
var ErrRemote = errors.New("not a loopback address; set allow_remote = true to let other machines in")

// CheckLoopback returns ErrRemote unless addr, a valid HOST:PORT, can be
// reached from this machine only.
func CheckLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost") {
		return nil
	}
	return ErrRemote
}
