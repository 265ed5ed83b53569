package app

import (
	"testing"
	"time"

	"cursortray/proxy/chat"
)

func TestACourseGrowsWithoutChangingWhatIsShown(t *testing.T) {
	var course []ContextPoint
	for used := range maxCourse {
		course = extended(course, &chat.Context{Used: used, Max: 1000}, time.Unix(int64(used), 0))
	}
	shown := course
	course = extended(course, &chat.Context{Used: 777, Max: 1000}, time.Unix(1000, 0))
	if len(course) != maxCourse || course[maxCourse-1].Used != 777 || course[0].Used != 1 {
		t.Errorf("%d points from %+v to %+v", len(course), course[0], course[len(course)-1])
	}
	if shown[0].Used != 0 || shown[maxCourse-1].Used != maxCourse-1 {
		t.Error("the course that was shown has changed")
	}
	if stale := extended(course, &chat.Context{Used: 1, Stale: true}, time.Time{}); len(stale) != len(course) || stale[len(stale)-1].Used != 777 {
		t.Error("figures of an earlier turn make a point")
	}
}
