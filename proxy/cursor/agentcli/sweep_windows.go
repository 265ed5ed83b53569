package agentcli

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// claim holds the folder for this program until the result is closed.
func claim(dir string) (io.Closer, error) { return openAlone(dir, windows.CREATE_NEW) }

func ownerOf(dir string) owner {
	f, err := openAlone(dir, windows.OPEN_EXISTING)
	switch err {
	case nil:
		f.Close()
		return ownerGone
	case windows.ERROR_SHARING_VIOLATION:
		return ownerLives
	}
	return ownerUnknown
}

// openAlone opens the owner's file in such a way that nobody else can.
func openAlone(dir string, how uint32) (*os.File, error) {
	path := filepath.Join(dir, ownerFile)
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const shareWithNobody = 0
	handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, shareWithNobody, nil, how, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), path), nil
}
