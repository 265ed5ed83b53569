//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // what some clients make of a picture
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// lookAt answers with what pictures came with the prompt. Like some models, it
// gives no figures of its use.
func lookAt(r *simserver.Run) error {
	text := "I see:"
	for _, p := range r.Request().GetAction().GetUserMessageAction().GetUserMessage().GetSelectedContext().GetSelectedImages() {
		config, format, err := image.DecodeConfig(bytes.NewReader(p.GetData()))
		if err != nil || p.GetMimeType() != "image/"+format {
			return simserver.Text(fmt.Sprintf("%s a picture that is said to be %s, but: %v", text, p.GetMimeType(), err))(r)
		}
		text += fmt.Sprintf(" a picture of %dx%d,", config.Width, config.Height)
	}
	return simserver.Text(text + " nothing else.")(r)
}

// runPicture sends a picture along with the prompt.
func (s *suite) runPicture(t *testing.T, c client) {
	u := s.simulate(t)
	u.answering(simserver.Opening(), lookAt)
	home, _ := project(t)
	file := filepath.Join(home, "proj", "picture.png")
	drawn := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for i := range 48 {
		drawn.Set(i, i, color.RGBA{R: 200, A: 255})
	}
	var text strings.Builder
	if err := png.Encode(&text, drawn); err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, text.String())
	between := record(t, u.url)
	args, stdin := c.picture("What is in this picture?", file)
	cmd := s.ask(t, c, home, u.through(between), args...)
	cmd.stdin = stdin
	c.check(t, cmd.run(t), between, "I see: a picture of 64x48, nothing else.")
}
