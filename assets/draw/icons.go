package main

import "image/color"

// The icon shows a pointer that lands in a tray.
func pointer() shape {
	return polygon{pts: []point{{11, 4.5}, {38, 19}, {25.5, 22.5}, {19, 34}}, r: 1.5}
}

func tray() shape {
	return line{pts: []point{{4.5, 31}, {4.5, 43}, {43.5, 43}, {43.5, 31}}, pen: 5}
}

// palette is the colours of one kind of panel.
type palette struct{ ink, dim, busy, alert, mark color.NRGBA }

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// palettes is keyed by the panel that an icon is for. "any" has middle tones,
// which stand out from black as well as from white. "template" is what macOS
// colours by itself: only its shape counts.
func palettes() map[string]palette {
	return map[string]palette{
		"light":    {ink: rgb(0x24292f), dim: rgb(0x6b7480), busy: rgb(0x0b62d6), alert: rgb(0xc9250f), mark: rgb(0xffffff)},
		"dark":     {ink: rgb(0xf2f4f6), dim: rgb(0x9aa3ad), busy: rgb(0x6cb2ff), alert: rgb(0xff7a66), mark: rgb(0x1b1b1b)},
		"any":      {ink: rgb(0x76808c), dim: rgb(0x76808c), busy: rgb(0x2b7fe8), alert: rgb(0xe2452f), mark: rgb(0xffffff)},
		"template": {ink: rgb(0), dim: rgb(0), busy: rgb(0), alert: rgb(0)}, // and no mark: it is cut out
	}
}

// states draws a tray icon for each state of the program.
func states() map[string]func(palette) []layer {
	return map[string]func(palette) []layer{
		"running": func(p palette) []layer {
			return []layer{{shape: tray(), fill: p.ink}, {shape: pointer(), fill: p.ink}}
		},
		"stopped": func(p palette) []layer {
			return []layer{{shape: tray(), fill: p.ink}, {shape: hollow{pointer(), 3.8}, fill: p.ink}}
		},
		"busy":    busy,
		"problem": problem,
		"offline": offline,
	}
}

func busy(p palette) []layer {
	badge := disc{c: point{38.5, 38}, r: 8.5}
	return []layer{
		{shape: tray(), fill: p.ink},
		{shape: pointer(), fill: p.ink},
		{shape: grown{badge, 3.5}, erase: true},
		{shape: badge, fill: p.busy},
	}
}

// offline is crossed out as well as dim, because a dimmer ink alone shows on few
// panels and in no template.
func offline(p palette) []layer {
	slash := line{pts: []point{{43, 5}, {7, 41}}, pen: 4}
	return []layer{
		{shape: tray(), fill: p.dim},
		{shape: pointer(), fill: p.dim},
		{shape: grown{slash, 3.2}, erase: true},
		{shape: slash, fill: p.dim},
	}
}

func problem(p palette) []layer {
	badge := disc{c: point{34.5, 33.5}, r: 13}
	mark := p.mark
	cut := mark.A == 0 // a template has no second colour
	return []layer{
		{shape: tray(), fill: p.ink},
		{shape: pointer(), fill: p.ink},
		{shape: grown{badge, 3.5}, erase: true},
		{shape: badge, fill: p.alert},
		{shape: line{pts: []point{{34.5, 26.5}, {34.5, 34}}, pen: 4.5}, fill: mark, erase: cut},
		{shape: disc{c: point{34.5, 40}, r: 2.5}, fill: mark, erase: cut},
	}
}

// application is the icon of the program itself, in its own colours.
func application() []layer {
	const scale, dx, dy = 0.68, 7.7, 7.9
	fit := func(pts []point) []point {
		out := make([]point, len(pts))
		for i, p := range pts {
			out[i] = point{p.x*scale + dx, p.y*scale + dy}
		}
		return out
	}
	t, p := tray().(line), pointer().(polygon)
	return []layer{
		{shape: tile{half: 23, r: 11}, fill: rgb(0x1d2b4f)},
		{shape: line{pts: fit(t.pts), pen: t.pen * scale}, fill: rgb(0x7fb2ff)},
		{shape: polygon{pts: fit(p.pts), r: p.r * scale}, fill: rgb(0xffffff)},
	}
}
