package agentrpc

import "time"

// timing has all limits of time. The values were taken from what public clients
// and captures of the command-line client have in common.
type timing struct {
	heartbeat     time.Duration // between signs of life of a run
	execHeartbeat time.Duration // between those of work in progress
	connect       time.Duration // until the first message is taken
	write         time.Duration // until any other message is taken
	silence       time.Duration // without a byte of the service
	progress      time.Duration // without anything that moves the turn
	question      time.Duration // without progress after a question nobody knows
	tool          time.Duration // until the client brings a result
	window        time.Duration // of quiet, until a set of calls is complete
	goodbye       time.Duration // for the service to end a run that was given up
	closing       time.Duration // the same when the program ends
	halfClose     time.Duration // after the turn's end, until we end our half
	late          time.Duration // after the turn's end, for a late checkpoint
	checkpoint    time.Duration // the part of it that the answer's end waits
	pause         time.Duration // before the first retry
	maxPause      time.Duration // before any retry that names no time
	maxWait       time.Duration // that the service may ask for
	remember      time.Duration // for the outcome of a result that was delivered
	idle          time.Duration // for a conversation in memory
	snapshot      time.Duration // for one on disk
	saving        time.Duration // from the end of a turn to its file
}

func defaultTiming() timing {
	return timing{
		heartbeat: 5 * time.Second, execHeartbeat: 3 * time.Second,
		connect: 30 * time.Second, write: 5 * time.Second,
		silence: 120 * time.Second, progress: 120 * time.Second, question: 45 * time.Second, tool: 600 * time.Second,
		window: 60 * time.Millisecond, goodbye: 75 * time.Millisecond, closing: time.Second,
		halfClose: time.Second, late: 5 * time.Second, checkpoint: 250 * time.Millisecond,
		pause: 500 * time.Millisecond, maxPause: 8 * time.Second, maxWait: 30 * time.Second,
		remember: 15 * time.Minute, idle: time.Hour, snapshot: 24 * time.Hour,
		saving: time.Second,
	}
}
