package simserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cursortray/proxy/cursor/cursorpb"
)

// Deltas is a stream of text for benchmarks.
type Deltas struct {
	Count int
	Size  int           // bytes of text in each
	Every time.Duration // between two; 0 as fast as the client takes them
	Stamp bool          // each begins with the time at which it was written, see StampOf; Size is at least 16 then
}

// chunk is how much is written at once when there is no pace to keep.
const chunk = 16 << 10

// Stream sends the deltas. All frames are encoded beforehand.
func Stream(d Deltas) Step {
	return func(r *Run) error {
		if d.Stamp {
			d.Size = max(d.Size, stampSize)
		}
		frame, err := encodeUpdate(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TextDelta{
			TextDelta: &cursorpb.TextDeltaUpdate{Text: strings.Repeat("x", d.Size)},
		}})
		if err != nil {
			return err
		}
		if d.Every == 0 && !d.Stamp {
			return r.flood(frame, d.Count)
		}
		return r.drip(frame, d)
	}
}

// flood writes many frames at once.
func (r *Run) flood(frame []byte, count int) error {
	per := max(1, chunk/len(frame))
	many := make([]byte, 0, per*len(frame))
	for range min(per, count) {
		many = append(many, frame...)
	}
	for count > 0 {
		n := min(per, count)
		if err := r.SendBytes(many[:n*len(frame)]); err != nil {
			return err
		}
		count -= n
	}
	return nil
}

// drip writes frame by frame, each at its time: a late one does not delay the
// ones behind it.
func (r *Run) drip(frame []byte, d Deltas) error {
	begin := time.Now()
	text := frame[len(frame)-d.Size:]
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range d.Count {
		if left := d.Every*time.Duration(i) - time.Since(begin); left > 0 {
			timer.Reset(left)
			select {
			case <-timer.C:
			case <-r.ctx.Done():
				return r.gone()
			}
		}
		if d.Stamp {
			copy(text, fmt.Sprintf("%0*x", stampSize, time.Now().UnixNano()))
		}
		if err := r.SendBytes(frame); err != nil {
			return err
		}
	}
	return nil
}

// stampSize is the length of a time in hexadecimal digits.
const stampSize = 16

// StampOf reads the time off a delta of Stream.
func StampOf(text string) (time.Time, bool) {
	if len(text) < stampSize {
		return time.Time{}, false
	}
	nanos, err := strconv.ParseInt(text[:stampSize], 16, 64)
	return time.Unix(0, nanos), err == nil
}
