package tokencount

import "unicode/utf8"

// Estimator estimates the tokens of a text that comes in pieces, in one pass
// and without memory of its own. The zero value is ready to use. It knows that
// vocabularies hold common words whole, with the space before them, up to three
// digits, and runs of spaces and of punctuation.
type Estimator struct {
	tenths int  // of tokens
	class  kind // of the last character
	run    int  // how many of that class came in a row
}

type kind uint8

const (
	none kind = iota
	letter
	upper // after a lower-case letter it begins a new word, as in camelCase
	digit
	space
	line
	mark
	foreign
)

// Prices in tenths of a token, fitted to the vocabulary on English prose, code
// and JSON. A test holds them to it.
const (
	wordStart  = 9  // most words are one token; short ones share
	wordPart   = 10 // each further piece of a long word
	wordPiece  = 7  // letters in one piece
	digitGroup = 10
	indent     = 7
	lineEnd    = 6
	markFirst  = 8
	markMore   = 3
	twoBytes   = 6 // Latin with accents, Greek, Cyrillic
	threeBytes = 12
	fourBytes  = 22
)

// Add takes the next piece of the text.
func (e *Estimator) Add(text string) {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			_, size := utf8.DecodeRuneInString(text[i:])
			e.tenths += foreignPrice(size)
			e.class, e.run = foreign, 1
			i += size
			continue
		}
		e.ascii(classes[c])
		i++
	}
}

// Break ends a text, so that the next piece is one of its own.
func (e *Estimator) Break() { e.class, e.run = none, 0 }

// Tokens returns the estimate so far.
func (e *Estimator) Tokens() int { return (e.tenths + 9) / 10 }

func (e *Estimator) ascii(class kind) {
	same := class == e.class || class == letter && e.class == upper
	if same {
		e.run++
	} else {
		e.run = 1
	}
	switch class {
	case letter, upper:
		if !same {
			e.tenths += wordStart
		} else if e.run%wordPiece == 0 {
			e.tenths += wordPart
		}
	case digit:
		if e.run%3 == 1 {
			e.tenths += digitGroup
		}
	case space:
		if e.run == 2 { // one space belongs to the word after it
			e.tenths += indent
		}
	case line:
		if e.run == 1 {
			e.tenths += lineEnd
		}
	case mark:
		if e.run == 1 {
			e.tenths += markFirst
		} else {
			e.tenths += markMore
		}
	}
	e.class = class
}

func foreignPrice(size int) int {
	switch size {
	case 2:
		return twoBytes
	case 3:
		return threeBytes
	}
	return fourBytes
}

var classes = classTable()

func classTable() (table [utf8.RuneSelf]kind) {
	for c := range table {
		switch {
		case c >= 'a' && c <= 'z':
			table[c] = letter
		case c >= 'A' && c <= 'Z':
			table[c] = upper
		case c >= '0' && c <= '9':
			table[c] = digit
		case c == ' ' || c == '\t':
			table[c] = space
		case c == '\n' || c == '\r':
			table[c] = line
		default:
			table[c] = mark
		}
	}
	return table
}
