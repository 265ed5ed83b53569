package agentrpc

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// snapshotHead is the first line of a file after its title. It tells what the
// compressed rest stands for.
type snapshotHead struct {
	Name         string
	ID           string
	Session      string
	Surroundings []byte
	Print        []byte
	Resume       bool
	Used         time.Time
	Window       occupancy
	Turns        int
}

const (
	snapshotTitle = "cursortray conversation 1\n"
	maxHead       = 256 << 10
)

var errNoSnapshot = errors.New("not a conversation of this program")

func (c *conversation) head() snapshotHead {
	return snapshotHead{Name: c.name, ID: c.id, Session: c.session, Surroundings: c.surroundings[:], Print: c.print[:], Resume: c.resume,
		Used: c.used, Window: c.window, Turns: c.turns}
}

func newPacker() *gzip.Writer {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that exists
	return z
}

func writeSnapshot(w io.Writer, z *gzip.Writer, head snapshotHead, c *conversation) error {
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", snapshotTitle, line); err != nil {
		return err
	}
	z.Reset(w)
	writeChunk(z, c.state)
	for id, data := range c.blobs.data {
		writeChunk(z, []byte(id))
		writeChunk(z, data)
	}
	return z.Close() // with the first error of all writes
}

func writeChunk(w io.Writer, data []byte) {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(data)))
	_, _ = w.Write(size[:])
	_, _ = w.Write(data)
}

func readHead(r *bufio.Reader) (snapshotHead, error) {
	var head snapshotHead
	limited := bufio.NewReader(io.LimitReader(r, maxHead))
	title, err := limited.ReadString('\n')
	if err != nil || title != snapshotTitle {
		return head, errNoSnapshot
	}
	line, err := limited.ReadBytes('\n')
	if err != nil {
		return head, errNoSnapshot
	}
	return head, checkHead(line, &head)
}

func checkHead(line []byte, head *snapshotHead) error {
	if err := json.Unmarshal(line, head); err != nil {
		return err
	}
	if len(head.Print) != len(fingerprint{}) || len(head.Surroundings) != len(fingerprint{}) || head.ID == "" {
		return errNoSnapshot
	}
	return nil
}

func readSnapshot(r io.Reader) (*conversation, error) {
	in := bufio.NewReader(r)
	title, err := in.ReadString('\n')
	if err != nil || title != snapshotTitle {
		return nil, errNoSnapshot
	}
	line, err := in.ReadBytes('\n')
	if err != nil || len(line) > maxHead {
		return nil, errNoSnapshot
	}
	var head snapshotHead
	if err := checkHead(line, &head); err != nil {
		return nil, err
	}
	c := &conversation{name: head.Name, id: head.ID, session: head.Session, surroundings: [32]byte(head.Surroundings), print: fingerprint(head.Print),
		resume: head.Resume, used: head.Used, window: head.Window, turns: head.Turns}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	chunks := io.LimitReader(z, maxState+maxState/8)
	if c.state, err = readChunk(chunks); err != nil {
		return nil, err
	}
	for {
		id, err := readChunk(chunks)
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		data, err := readChunk(chunks)
		if err != nil {
			return nil, fmt.Errorf("a blob breaks off: %w", err)
		}
		c.blobs.set(id, data)
	}
}

// readChunk returns io.EOF only if there is no further chunk.
func readChunk(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(size[:]))
	data, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(data)) != n {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}
