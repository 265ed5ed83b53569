// Draw makes the icon files of package assets from shapes that this program
// holds, so that the pictures can be made again anywhere from their source.
// Run it with `go generate ./assets`; it writes into the folder it is given.
// It starts no goroutine.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: draw FOLDER")
		os.Exit(2)
	}
	if err := drawAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
}

func drawAll(folder string) error {
	for _, sub := range []string{"app", "tray"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			return err
		}
	}
	for name, draw := range files() {
		data, err := draw()
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// files maps each file to what draws it.
func files() map[string]func() ([]byte, error) {
	all := map[string]func() ([]byte, error){
		"app/cursortray.svg": func() ([]byte, error) { return toSVG(application()), nil },
		"app/cursortray.ico": func() ([]byte, error) { return toICO(application(), 16, 24, 32, 48, 64, 256) },
	}
	for _, size := range []int{16, 22, 24, 32, 48, 64, 128, 256} {
		all[fmt.Sprintf("app/cursortray-%d.png", size)] = func() ([]byte, error) { return toPNG(application(), size) }
	}
	for state, draw := range states() {
		for panel, colors := range palettes() {
			name := "tray/" + state + "-" + panel
			if panel == "template" {
				all[name+".png"] = func() ([]byte, error) { return toPNG(draw(colors), 32) }
				continue
			}
			all[name+".png"] = func() ([]byte, error) { return toPNG(draw(colors), 48) }
			if panel != "any" { // Windows always tells
				all[name+".ico"] = func() ([]byte, error) { return toICO(draw(colors), 16, 20, 24, 32, 48) }
			}
		}
	}
	return all
}
