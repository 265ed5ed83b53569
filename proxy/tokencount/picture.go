package tokencount

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"

	"cursortray/proxy/chat"
)

// Anthropic documents width times height by 750 for a picture, which is scaled
// down to at most about 1600 tokens. Other makers' pictures cost the like.
const (
	pixelsPerToken = 750
	mostPerPicture = 1600
)

// picture returns the tokens of a picture by the size that its header tells,
// the most for one whose header is not understood (WebP, for example).
func picture(p chat.Image) int {
	decode := map[string]func(*bytes.Reader) (image.Config, error){
		"image/png":  func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) },
		"image/jpeg": func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) },
		"image/gif":  func(r *bytes.Reader) (image.Config, error) { return gif.DecodeConfig(r) },
	}[p.MIME]
	if decode == nil {
		return mostPerPicture
	}
	size, err := decode(bytes.NewReader(p.Data))
	if err != nil || size.Width > 1<<20 || size.Height > 1<<20 {
		return mostPerPicture
	}
	return min(size.Width*size.Height/pixelsPerToken+1, mostPerPicture)
}
