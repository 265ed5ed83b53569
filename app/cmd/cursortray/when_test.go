package main

import (
	"strings"
	"testing"
	"time"
)

func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("here", 2*3600)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, zone)
	for text, want := range map[string]string{
		"7d": "2026-11-23T12:00:00+02:00", "0d": "2026-11-30T12:00:00+02:00", "12h": "2026-11-30T00:00:00+02:00", "90m": "2026-11-30T10:30:00+02:00",
		"2026-11-01": "2026-11-01T00:00:00+02:00", "2026-11-01 13:05": "2026-11-01T13:05:00+02:00", "2026-11-01T13:05": "2026-11-01T13:05:00+02:00",
		"2026-11-01T13:05:00Z": "2026-11-01T13:05:00Z",
	} {
		if at, err := parseWhen(text, now, false); err != nil || at.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v", text, at.Format(time.RFC3339), err)
		}
	}
	if at, err := parseWhen("2026-11-01", now, true); err != nil || at.Day() != 2 {
		t.Errorf("the end of a day: %s, %v", at, err)
	}
	for _, text := range []string{"", "d", "-1d", "-5h", "yesterday", "2026-13-01", "99999d", "1.5d"} {
		if at, err := parseWhen(text, now, false); err == nil {
			t.Errorf("%q is %s", text, at)
		}
	}
}

func FuzzParseWhen(f *testing.F) {
	for _, text := range []string{"7d", "12h", "2026-11-01", "2026-11-01T00:00:00Z", "9999999d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := parseWhen(text, time.Now(), true); err == nil && at.IsZero() && !strings.HasPrefix(text, "0001") {
			t.Errorf("%q is no time", text)
		}
	})
}
