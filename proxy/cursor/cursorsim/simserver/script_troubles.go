package simserver

import (
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"cursortray/proxy/cursor/cursorpb"
)

// Trouble is one way in which a run does not go as it should, or goes oddly.
type Trouble struct {
	Steps  []Step // of the run; nil for Demo
	Inject *Fault // before the run; nil for none
}

// Prepare makes the next run have the trouble, or all runs.
func (s *Sim) Prepare(t Trouble, always bool) error {
	if t.Inject != nil {
		f := *t.Inject
		if !always {
			f.Times = 1
		}
		return s.Inject(f)
	}
	if always {
		s.ScriptAlways(t.Steps...)
	} else {
		s.Script(t.Steps...)
	}
	return nil
}

// Troubles lists them by name: every failure of Failures, at the beginning and
// "after text", faults of the stream, odd orders and unknown things. Where the
// client can answer all the same, the answer is "so far" and "the end".
func Troubles() map[string]Trouble {
	all := map[string]Trouble{}
	for _, list := range []map[string][]Step{streamTroubles(), oddTroubles(), workTroubles()} {
		for name, steps := range list {
			all[name] = Trouble{Steps: steps}
		}
	}
	for name := range Failures() {
		all[name] = Trouble{Steps: []Step{Opening(), Fail(Failure(name))}}
		all[name+", after text"] = Trouble{Steps: []Step{Opening(), soFar(), Fail(Failure(name))}}
	}
	for name, status := range map[string]int{
		"HTTP 401": http.StatusUnauthorized, "HTTP 403": http.StatusForbidden, "HTTP 429": http.StatusTooManyRequests,
		"HTTP 464": 464, "HTTP 500": http.StatusInternalServerError, "HTTP 503": http.StatusServiceUnavailable,
	} {
		all[name] = Trouble{Inject: &Fault{Kind: FaultStatus, Route: RunPath, Status: status}}
	}
	all["page of a hotel"] = Trouble{Inject: &Fault{Kind: FaultHTML, Route: RunPath}}
	all["reset before an answer"] = Trouble{Inject: &Fault{Kind: FaultReset, Route: RunPath}}
	return all
}

func soFar() Step  { return Text("so far") }
func theEnd() Step { return Text("the end") }

// streamTroubles break the stream. None of them is a good end.
func streamTroubles() map[string][]Step {
	half := appendFrame(nil, 0, []byte("half of it"))[:9]
	return map[string][]Step{
		"no last envelope":                     {Close()},
		"no last envelope, after text":         {soFar(), Close()},
		"no last envelope, after a checkpoint": {Opening(), soFar(), Saved(10, 100, "{}"), Close()},
		"an empty last envelope":               {soFar(), Frame(flagEndStream, []byte("{}")), Close()},
		"a last envelope that is no JSON":      {soFar(), Frame(flagEndStream, []byte("gone")), Close()},
		"stream reset":                         {Reset()},
		"stream reset, after text":             {soFar(), Reset()},
		"connection reset":                     {ResetConnection()},
		"connection reset, after text":         {soFar(), Pause(1), ResetConnection()},
		"trailers":                             {Trailers(14, "unavailable")},
		"trailers, after text":                 {soFar(), Trailers(14, "unavailable")},
		"half a frame":                         {soFar(), Bytes(half), Close()},
		"half a head":                          {soFar(), Bytes([]byte{0, 0}), Close()},
		"a frame of 70 MiB":                    {soFar(), HugeFrame(70 << 20), Close()},
		"a frame that is no message":           {soFar(), Frame(0, []byte{0xff}), Close()},
		"a frame that is not compressed":       {soFar(), Frame(flagGzip, []byte("plain")), Close()},
		"silence":                              {soFar(), Mute(), Hang()},
		"nothing but heartbeats":               {soFar(), Hang()},
	}
}

// oddTroubles are odd, but a client can answer.
func oddTroubles() map[string][]Step {
	unknown := &cursorpb.AgentServerMessage{}
	cursorpb.AddEmptyField(unknown, 900)
	news := &cursorpb.InteractionUpdate{}
	cursorpb.AddEmptyField(news, 901)
	ended := func(r *Run) error {
		return r.Update(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TurnEnded{TurnEnded: &cursorpb.TurnEndedUpdate{}}})
	}
	return map[string][]Step{
		"no last envelope after the turn's end": {soFar(), theEnd(), End(Counters{}), Close()},
		"GOAWAY":                                {soFar(), GoAway(), theEnd()},
		"compressed frames":                     {Gzipped(soFar(), theEnd())},
		"frames cut at every byte":              {Cut(1, Opening(), soFar(), SetBlob([]byte("cut")), theEnd())},
		"frames joined":                         {Joined(soFar(), Beat(), SetBlob([]byte("joined")), theEnd())},
		"empty frames":                          {EmptyFrame(), soFar(), EmptyFrame(), theEnd()},
		"empty texts":                           {Text(""), soFar(), Thinking(""), TokenDelta(0), theEnd()},
		"an unknown message":                    {soFar(), Message(unknown), theEnd()},
		"unknown news":                          {soFar(), func(r *Run) error { return r.Update(news) }, theEnd()},
		"a late blob":                           {soFar(), theEnd(), End(Counters{}), SetBlob([]byte("late"))},
		"a late checkpoint":                     {soFar(), theEnd(), End(Counters{}), Saved(20, 100, "{}")},
		"the turn ends twice":                   {soFar(), theEnd(), End(Counters{}), ended},
		"a checkpoint that is none":             {soFar(), func(r *Run) error { return r.CheckpointBytes([]byte{0xff}) }, theEnd()},
		"a blob that nobody has":                {soFar(), MissingBlob(), theEnd()},
		"notices and summaries":                 {Notice("maintenance at noon"), soFar(), Summary("what was said"), Routed("Some Model"), theEnd()},
	}
}

// workTroubles ask for what a client without tools cannot do.
func workTroubles() map[string][]Step {
	text := &cursorpb.McpArgs{Name: "mcp_x_y", ToolName: "y", ProviderIdentifier: "x", ToolCallId: "toolu_text", Args: map[string][]byte{"a": []byte("plain text")}}
	nameless := &cursorpb.ExecServerMessage{ExecId: "only-a-name", Message: &cursorpb.ExecServerMessage_LsArgs{LsArgs: &cursorpb.LsArgs{Path: "/w"}}}
	withdrawn := func(r *Run) error {
		e, err := r.Exec(&cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_McpArgs{McpArgs: text}})
		if err != nil {
			return err
		}
		return e.Abort()
	}
	queries := []Step{Opening(), soFar()}
	for number := range protowire.Number(13) {
		queries = append(queries, AskKind(int32(number)+2))
	}
	return map[string][]Step{
		"work of every kind":        {Opening(), soFar(), EveryKind(), theEnd()},
		"unknown work":              {Opening(), soFar(), UnknownWork(99), theEnd()},
		"work without a number":     {Opening(), soFar(), Work(nameless), theEnd()},
		"work withdrawn":            {Opening(), soFar(), withdrawn, theEnd()},
		"a tool that nobody offers": {Opening(), soFar(), Call("does_not_exist", `{"a":1}`), theEnd()},
		"arguments as plain text":   {Opening(), soFar(), Work(&cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_McpArgs{McpArgs: text}}), theEnd()},
		"queries of every kind":     append(queries, theEnd()),
		"an unknown query":          {Opening(), soFar(), AskKind(99), theEnd()},
		"the context asked twice":   {Opening(), soFar(), Opening(), theEnd()},
	}
}
