package openai

import (
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// parseDataURL decodes what follows "data:" in the URL of a picture. The
// problem, if there is one, says what is wrong without quoting the data.
func parseDataURL(rest string) (picture chat.Image, problem string) {
	head, data, found := strings.Cut(rest, ",")
	if !found {
		return picture, "is not a whole data: URL"
	}
	mime, encoded := strings.CutSuffix(strings.ToLower(head), ";base64")
	if !encoded {
		return picture, "must be base64 encoded"
	}
	return wirejson.Picture(mime, data)
}
