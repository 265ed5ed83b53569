package main

import (
	"slices"
	"testing"

	"cursortray/app/config"
	"cursortray/app/notify"
)

// The setting knows every kind of notification, in the spelling of the package
// that shows them.
func TestNotificationKinds(t *testing.T) {
	var kinds []string
	for _, kind := range notify.Kinds() {
		kinds = append(kinds, string(kind))
	}
	known := config.NotificationKinds()
	slices.Sort(kinds)
	slices.Sort(known)
	if !slices.Equal(kinds, known) {
		t.Errorf("there are %v, the setting knows %v", kinds, known)
	}
}
