package wirejson

import "unicode/utf8"

// MaxPiece is how much text goes into one event of a stream. Some clients read
// a stream line by line with a limit of 64 KiB.
const MaxPiece = 16 << 10

// PieceLength returns how much of text goes into the next event: no more than
// MaxPiece, and no part of a character.
func PieceLength(text string) int {
	if len(text) <= MaxPiece {
		return len(text)
	}
	for n := MaxPiece; n > MaxPiece-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return MaxPiece // not UTF-8 anyway
}
