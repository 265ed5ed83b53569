package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
)

// grid is how many points are tried along each side of a pixel.
const grid = 8

// raster paints the layers at size by size pixels.
func raster(layers []layer, size int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			img.SetNRGBA(x, y, pixel(layers, size, x, y))
		}
	}
	return img
}

// pixel averages the colours at the points of one pixel, weighted by how
// opaque each is.
func pixel(layers []layer, size, px, py int) color.NRGBA {
	var r, g, b, n int
	unit := float64(side) / float64(size)
	for i := range grid * grid {
		p := point{
			x: (float64(px) + (float64(i%grid)+0.5)/grid) * unit,
			y: (float64(py) + (float64(i/grid)+0.5)/grid) * unit,
		}
		if c, ok := colorAt(layers, p); ok {
			r, g, b, n = r+int(c.R), g+int(c.G), b+int(c.B), n+1
		}
	}
	if n == 0 {
		return color.NRGBA{}
	}
	return color.NRGBA{R: uint8(r / n), G: uint8(g / n), B: uint8(b / n), A: uint8(n * 255 / (grid * grid))}
}

func colorAt(layers []layer, p point) (c color.NRGBA, ok bool) {
	for _, l := range layers {
		if l.shape.dist(p) <= 0 {
			c, ok = l.fill, !l.erase
		}
	}
	return c, ok
}

func toPNG(layers []layer, size int) ([]byte, error) {
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	err := enc.Encode(&b, raster(layers, size))
	return b.Bytes(), err
}

// toICO writes an icon file. Up to 48 pixels the images are bitmaps, which
// every version and corner of Windows reads; larger ones are PNG.
func toICO(layers []layer, sizes ...int) ([]byte, error) {
	var head, body bytes.Buffer
	le := binary.LittleEndian
	head.Write(le.AppendUint16(le.AppendUint16(le.AppendUint16(nil, 0), 1), uint16(len(sizes))))
	for _, size := range sizes {
		img := bitmap(raster(layers, size))
		if size > 48 {
			var err error
			if img, err = toPNG(layers, size); err != nil {
				return nil, err
			}
		}
		// Width and height (0 is 256), no palette, one plane, 32 bits.
		head.Write([]byte{byte(size), byte(size), 0, 0, 1, 0, 32, 0})
		head.Write(le.AppendUint32(nil, uint32(len(img))))
		head.Write(le.AppendUint32(nil, uint32(6+16*len(sizes)+body.Len())))
		body.Write(img)
	}
	return append(head.Bytes(), body.Bytes()...), nil
}

// bitmap is a picture in the form that icon files hold: a BITMAPINFOHEADER of
// double height, rows of BGRA from the bottom up, and a one-bit mask.
func bitmap(img *image.NRGBA) []byte {
	size := img.Bounds().Dx()
	le := binary.LittleEndian
	out := le.AppendUint32(nil, 40)
	out = le.AppendUint32(out, uint32(size))
	out = le.AppendUint32(out, uint32(2*size))
	out = le.AppendUint16(le.AppendUint16(out, 1), 32)
	out = append(out, make([]byte, 24)...)
	row := (size + 31) / 32 * 4
	mask := make([]byte, row*size)
	for y := range size {
		for x := range size {
			c := img.NRGBAAt(x, size-1-y)
			out = append(out, c.B, c.G, c.R, c.A)
			if c.A == 0 {
				mask[y*row+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	return append(out, mask...)
}
