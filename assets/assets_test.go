package assets

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func allStates() []State { return []State{Running, Stopped, Busy, Problem, Offline} }

func TestTrayIconIsThereForEveryStateAndPanel(t *testing.T) {
	for _, state := range allStates() {
		for _, panel := range []Panel{AnyPanel, LightPanel, DarkPanel} {
			if len(TrayIcon(state, panel)) == 0 {
				t.Errorf("no icon for %s on %s", state, panel)
			}
		}
	}
}

func TestTrayPicturesHaveTheirSize(t *testing.T) {
	for _, state := range allStates() {
		for kind, size := range map[string]int{"any": 48, "light": 48, "dark": 48, "template": 32} {
			img := readPNG(t, "tray/"+state.String()+"-"+kind+".png")
			if got := img.Bounds().Size(); got != image.Pt(size, size) {
				t.Errorf("%s-%s is %v, want %d pixels square", state, kind, got, size)
			}
		}
		for _, panel := range []string{"light", "dark"} {
			sizes := icoSizes(t, "tray/"+state.String()+"-"+panel+".ico")
			if want := []int{16, 20, 24, 32, 48}; !slices.Equal(sizes, want) {
				t.Errorf("%s-%s.ico has sizes %v, want %v", state, panel, sizes, want)
			}
		}
	}
}

func TestTemplatesAreBlack(t *testing.T) {
	for _, state := range allStates() {
		eachPixel(readPNG(t, "tray/"+state.String()+"-template.png"), func(c color.NRGBA) {
			if c.A > 0 && (c.R|c.G|c.B) != 0 {
				t.Fatalf("%s-template.png has the colour %v", state, c)
			}
		})
	}
}

func TestApplicationIconHasAllSizes(t *testing.T) {
	for _, size := range []string{"16", "22", "24", "32", "48", "64", "128", "256"} {
		readPNG(t, "app/cursortray-"+size+".png")
	}
	if sizes := icoSizes(t, "app/cursortray.ico"); !slices.Contains(sizes, 16) || !slices.Contains(sizes, 256) {
		t.Errorf("cursortray.ico has sizes %v", sizes)
	}
}

// Icons are graphics in the sense of WCAG 1.4.11: at least 3:1 with what they
// lie on. Each of ink and badge is tested, the mark inside a badge is not: it
// lies on the badge.
func TestIconsStandOutFromTheirPanel(t *testing.T) {
	panels := map[string][]color.NRGBA{
		"light": {grey(0xff), grey(0xf0), grey(0xdd)},
		"dark":  {grey(0x00), grey(0x20), grey(0x33)},
		"any":   {grey(0xff), grey(0xf4), grey(0x00), grey(0x20)},
	}
	for _, state := range allStates() {
		for kind, grounds := range panels {
			for _, ink := range inks(readPNG(t, "tray/"+state.String()+"-"+kind+".png")) {
				for _, ground := range grounds {
					if c := contrast(ink, ground); c < 3 {
						t.Errorf("%s-%s: %v on %v has a contrast of %.2f, want 3", state, kind, ink, ground, c)
					}
				}
			}
		}
	}
}

func TestStatesLookDifferent(t *testing.T) {
	for _, kind := range []string{"any", "light", "dark", "template"} {
		for i, a := range allStates() {
			for _, b := range allStates()[i+1:] {
				x := readPNG(t, "tray/"+a.String()+"-"+kind+".png")
				y := readPNG(t, "tray/"+b.String()+"-"+kind+".png")
				if d := difference(x, y); d < 0.04 {
					t.Errorf("%s and %s differ in %.1f %% of the pixels only (%s)", a, b, d*100, kind)
				}
			}
		}
	}
}

func readPNG(t *testing.T, name string) image.Image {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("icons", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return img
}

// icoSizes reads the directory of an icon file and checks that it points at
// pictures of the sizes it names.
func icoSizes(t *testing.T, name string) []int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("icons", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	var sizes []int
	for i := range int(le.Uint16(data[4:])) {
		entry := data[6+16*i:]
		img := data[le.Uint32(entry[12:]):][:le.Uint32(entry[8:])]
		size := int(entry[0])
		if size == 0 {
			size = 256
			if _, err := png.DecodeConfig(bytes.NewReader(img)); err != nil {
				t.Errorf("%s: image %d: %v", name, i, err)
			}
		} else if size <= 48 && (le.Uint32(img[4:]) != uint32(size) || le.Uint32(img[8:]) != uint32(2*size)) {
			t.Errorf("%s: image %d is not %d pixels", name, i, size)
		}
		sizes = append(sizes, size)
	}
	return sizes
}

func eachPixel(img image.Image, f func(color.NRGBA)) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			f(color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA))
		}
	}
}

// inks are the opaque colours that touch transparency, which are those that
// have to stand out from the panel.
func inks(img image.Image) []color.NRGBA {
	at := func(x, y int) color.NRGBA { return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA) }
	seen := make(map[color.NRGBA]bool)
	for y := 2; y < img.Bounds().Dy()-2; y++ {
		for x := 2; x < img.Bounds().Dx()-2; x++ {
			near := min(at(x-2, y).A, at(x+2, y).A, at(x, y-2).A, at(x, y+2).A)
			if c := at(x, y); c.A == 255 && near == 0 {
				seen[c] = true
			}
		}
	}
	var list []color.NRGBA
	for c := range seen {
		list = append(list, c)
	}
	return list
}

// difference is the share of pixels that are clearly not the same.
func difference(a, b image.Image) float64 {
	n, all := 0, a.Bounds().Dx()*a.Bounds().Dy()
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			_, _, _, p := a.At(x, y).RGBA()
			_, _, _, q := b.At(x, y).RGBA()
			if max(p, q)-min(p, q) > 0x8000 {
				n++
			}
		}
	}
	return float64(n) / float64(all)
}

func grey(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 255} }

// contrast is the ratio of WCAG 2.
func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}
