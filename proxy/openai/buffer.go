package openai

import "cursortray/proxy/wirejson"

// eventBuffer gathers the events that stand for one event of a turn, so that
// they go out in one write.
type eventBuffer struct {
	write func(events []byte) error // must copy what it keeps
	buf   []byte                    // complete events, and the one that is being written
	err   error                     // first failed write
}

// end ends an event: its data was written up to and with its last brace.
func (b *eventBuffer) end() {
	b.buf = append(b.buf, "\n\n"...)
	if len(b.buf) >= wirejson.MaxPiece { // one huge event need not be whole in memory twice
		_ = b.flush() // the last flush reports the error
	}
}

func (b *eventBuffer) flush() error {
	if b.err == nil && len(b.buf) > 0 {
		b.err = b.write(b.buf)
	}
	b.buf = b.buf[:0]
	return b.err
}
