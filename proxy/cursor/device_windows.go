package cursor

import (
	"context"

	"golang.org/x/sys/windows/registry"
)

// platformID returns the id that Windows gave to this installation.
func platformID(context.Context) string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	id, _, err := key.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return id
}
