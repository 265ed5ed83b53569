package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// The committed files are what this program draws. A difference of a few
// shades is allowed: processors round differently.
func TestCommittedIconsAreTheDrawnOnes(t *testing.T) {
	const folder = "../icons"
	for name, draw := range files() {
		want, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if !alike(t, filepath.Ext(name), got, want) {
			t.Errorf("%s is not what this program draws; run `go generate ./assets`", name)
		}
	}
}

func TestNoOtherIconsAreCommitted(t *testing.T) {
	known := files()
	for _, sub := range []string{"app", "tray"} {
		entries, err := os.ReadDir(filepath.Join("../icons", sub))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if known[sub+"/"+e.Name()] == nil {
				t.Errorf("%s/%s is not drawn by this program", sub, e.Name())
			}
		}
	}
}

func alike(t *testing.T, ext string, a, b []byte) bool {
	switch ext {
	case ".svg":
		return bytes.Equal(a, b)
	case ".png":
		return near(pixels(t, a), pixels(t, b))
	default: // an icon file: head and bitmaps first, compressed pictures at the end
		const bitmaps = 16 << 10
		return near(a[:min(len(a), bitmaps)][22:], b[:min(len(b), bitmaps)][22:])
	}
}

func pixels(t *testing.T, data []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img.(*image.NRGBA).Pix
}

func near(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if max(a[i], b[i])-min(a[i], b[i]) > 8 {
			return false
		}
	}
	return true
}
