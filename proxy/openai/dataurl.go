package openai

import (
	"encoding/base64"
	"slices"
	"strings"

	"cursortray/proxy/chat"
)

var pictureTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// parseDataURL decodes what follows "data:" in the URL of a picture. The
// problem, if there is one, says what is wrong without quoting the data.
func parseDataURL(rest string) (picture chat.Image, problem string) {
	head, data, found := strings.Cut(rest, ",")
	if !found {
		return picture, "is not a whole data: URL"
	}
	head, encoded := strings.CutSuffix(strings.ToLower(head), ";base64")
	if !encoded {
		return picture, "must be base64 encoded"
	}
	mime, _, _ := strings.Cut(head, ";")
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
