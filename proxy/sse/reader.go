package sse

import (
	"bufio"
	"io"
	"strings"
)

// Message is one block of a stream, as a Reader found it.
type Message struct {
	Event   string // value of the "event" field
	Data    string // the "data" lines, joined by line feeds
	Comment string // text of the comment lines, joined by line feeds
}

// Reader splits a stream into its blocks, for tests. Unlike a browser it also
// reports comments, and it refuses what this program must not send.
type Reader struct {
	r *bufio.Reader
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Next returns the next block. At the end of the stream the error is io.EOF,
// within a block io.ErrUnexpectedEOF.
func (r *Reader) Next() (Message, error) {
	var m Message
	var data, comments []string
	for lines := 0; ; lines++ {
		line, err := r.r.ReadString('\n')
		if err == io.EOF && (lines > 0 || line != "") {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return Message{}, err
		}
		line = line[:len(line)-1]
		if line == "" {
			m.Data, m.Comment = strings.Join(data, "\n"), strings.Join(comments, "\n")
			return m, nil
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			comments = append(comments, value)
		case "data":
			data = append(data, value)
		case "event":
			m.Event = value
		}
	}
}

// ReadAll returns all blocks up to the end of the stream.
func ReadAll(r io.Reader) ([]Message, error) {
	reader := NewReader(r)
	var all []Message
	for {
		m, err := reader.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
}
