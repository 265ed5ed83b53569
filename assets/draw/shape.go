package main

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// Everything is drawn on a square of 48 by 48 units.
const side = 48

type point struct{ x, y float64 }

// shape is an area. dist is the signed distance of a point to its edge,
// negative inside; svg is its outline as an SVG element without a fill.
type shape interface {
	dist(p point) float64
	svg() string
}

// layer paints a shape. With an erase layer, what lies under the shape becomes
// transparent.
type layer struct {
	shape shape
	fill  color.NRGBA
	erase bool
}

type disc struct {
	c point
	r float64
}

func (d disc) dist(p point) float64 { return math.Hypot(p.x-d.c.x, p.y-d.c.y) - d.r }

func (d disc) svg() string {
	return fmt.Sprintf(`<circle cx="%g" cy="%g" r="%g"`, d.c.x, d.c.y, d.r)
}

// tile is a square with round corners around the centre.
type tile struct{ half, r float64 }

func (t tile) dist(p point) float64 {
	x := math.Abs(p.x-side/2) - t.half + t.r
	y := math.Abs(p.y-side/2) - t.half + t.r
	return math.Hypot(max(x, 0), max(y, 0)) + min(max(x, y), 0) - t.r
}

func (t tile) svg() string {
	return fmt.Sprintf(`<rect x="%g" y="%g" width="%g" height="%g" rx="%g"`, side/2-t.half, side/2-t.half, 2*t.half, 2*t.half, t.r)
}

// line is a path drawn with a round pen.
type line struct {
	pts []point
	pen float64 // its width
}

func (l line) dist(p point) float64 {
	d := math.Inf(1)
	for i := 1; i < len(l.pts); i++ {
		d = min(d, segment(p, l.pts[i-1], l.pts[i]))
	}
	return d - l.pen/2
}

func (l line) svg() string {
	return fmt.Sprintf(`<path d="M%s" stroke-width="%g" stroke-linecap="round" stroke-linejoin="round"`, path(l.pts), l.pen)
}

// polygon is an area with straight edges, its corners rounded outwards by r.
type polygon struct {
	pts []point
	r   float64
}

func (g polygon) dist(p point) float64 {
	d, inside := math.Inf(1), false
	for i, a := range g.pts {
		b := g.pts[(i+1)%len(g.pts)]
		d = min(d, segment(p, a, b))
		if (a.y > p.y) != (b.y > p.y) && p.x < (b.x-a.x)*(p.y-a.y)/(b.y-a.y)+a.x {
			inside = !inside
		}
	}
	if inside {
		d = -d
	}
	return d - g.r
}

func (g polygon) svg() string {
	return fmt.Sprintf(`<path d="M%sZ" stroke-width="%g" stroke-linejoin="round"`, path(g.pts), 2*g.r)
}

// hollow is the rim of a shape, of the given width, inside its edge. It has no
// SVG form: only tray icons use it, which are published as pictures.
type hollow struct {
	of    shape
	width float64
}

func (h hollow) dist(p point) float64 {
	d := h.of.dist(p)
	return max(d, -d-h.width)
}

func (hollow) svg() string { panic("a hollow shape has no SVG form") }

// grown is a shape with its edge moved outwards.
type grown struct {
	of shape
	by float64
}

func (g grown) dist(p point) float64 { return g.of.dist(p) - g.by }

func (grown) svg() string { panic("a grown shape has no SVG form") }

// segment is the distance of p to the line from a to b.
func segment(p, a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	t := ((p.x-a.x)*dx + (p.y-a.y)*dy) / (dx*dx + dy*dy)
	t = max(0, min(1, t))
	return math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy)
}

func path(pts []point) string {
	var b strings.Builder
	for i, p := range pts {
		if i > 0 {
			b.WriteString(" L")
		}
		fmt.Fprintf(&b, "%g %g", p.x, p.y)
	}
	return b.String()
}

// toSVG writes the layers as an SVG file.
func toSVG(layers []layer) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n", side, side, side, side)
	for _, l := range layers {
		hex := fmt.Sprintf("#%02x%02x%02x", l.fill.R, l.fill.G, l.fill.B)
		fill, stroke := hex, "none"
		switch s := l.shape.(type) {
		case line:
			fill, stroke = "none", hex
		case polygon:
			if s.r > 0 {
				stroke = hex
			}
		}
		fmt.Fprintf(&b, "  %s fill=%q stroke=%q/>\n", l.shape.svg(), fill, stroke)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}
