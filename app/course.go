package app

import (
	"slices"
	"time"

	"cursortray/proxy/chat"
)

// ContextPoint is how full a conversation's window was at a moment.
type ContextPoint struct {
	At        time.Time
	Used, Max int // tokens; Max is 0 when not known
}

// maxCourse bounds what is kept of a conversation that goes on all day.
const maxCourse = 500

// extended returns a new course with one more point. The old one is shown
// somewhere and stays as it is.
func extended(course []ContextPoint, c *chat.Context, at time.Time) []ContextPoint {
	if c.Stale {
		return course
	}
	course = course[max(0, len(course)+1-maxCourse):]
	return append(slices.Clip(course), ContextPoint{At: at, Used: c.Used, Max: c.Max})
}
