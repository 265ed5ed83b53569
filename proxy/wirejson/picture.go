package wirejson

import (
	"encoding/base64"
	"slices"
	"strings"

	"cursortray/proxy/chat"
)

var pictureTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Picture decodes a picture from its media type and its base64 data. The
// problem, if there is one, says what is wrong without quoting the data.
func Picture(mime, data string) (picture chat.Image, problem string) {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	mime = strings.TrimSpace(mime)
	if mime == "image/jpg" { // not registered, and common
		mime = "image/jpeg"
	}
	if !slices.Contains(pictureTypes, mime) {
		return picture, "must be of type " + strings.Join(pictureTypes, ", ")
	}
	// Padding may be missing.
	bytes, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err != nil || len(bytes) == 0 {
		return picture, "is not valid base64 data"
	}
	return chat.Image{MIME: mime, Data: bytes}, ""
}
