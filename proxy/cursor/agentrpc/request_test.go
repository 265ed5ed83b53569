package agentrpc

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorpb"
)

func opened() opening {
	return opening{conversation: "c1", run: "r1", message: "m1", model: cursor.Selection{ID: "default"}}
}

func built(t *testing.T, req *chat.Request, s settings, o opening) (*cursorpb.AgentRunRequest, []blob) {
	t.Helper()
	box, err := newToolbox(req)
	if err != nil {
		t.Fatal(err)
	}
	run, blobs, err := buildRun(req, s, box, o)
	if err != nil {
		t.Fatal(err)
	}
	if run.ConversationState == nil {
		t.Error("the state is not there at all")
	}
	if _, err := (cursorpb.Codec{}).Marshal(run); err != nil {
		t.Error(err)
	}
	return run, blobs
}

func userOf(run *cursorpb.AgentRunRequest) *cursorpb.UserMessage {
	return run.GetAction().GetUserMessageAction().GetUserMessage()
}

func TestFirstRun(t *testing.T) {
	req := asks(chat.Tool{Name: "b"}, chat.Tool{Name: "a"})
	req.System = "be \xff brief"
	o := opened()
	o.model = cursor.Selection{ID: "gpt", Max: true, Parameters: []cursor.Parameter{{ID: "effort", Value: "high"}}}
	env := &cursorpb.RequestContextEnv{OsVersion: "linux 6.1.0", Shell: "bash", TimeZone: "UTC"}
	run, blobs := built(t, req, settings{env: env}, o)
	if len(run.ConversationState) != 0 || len(blobs) != 0 || len(run.PreFetchedBlobs) != 0 {
		t.Errorf("a new conversation has state %x", run.ConversationState)
	}
	user := userOf(run)
	if user.Text != "do it" || user.MessageId != "m1" || user.Mode != cursorpb.AgentMode_AGENT_MODE_AGENT || user.SelectedContext != nil {
		t.Errorf("user message %v", user)
	}
	if run.GetConversationId() != "c1" || run.GetRunId() != "r1" || run.CustomSystemPrompt != nil || run.ModelDetails != nil {
		t.Errorf("run %v", run)
	}
	m := run.RequestedModel
	if m.ModelId != "gpt" || !m.MaxMode || m.Parameters[0].Id != "effort" || m.Parameters[0].Value != "high" {
		t.Errorf("model %v", m)
	}
	context := run.GetAction().GetUserMessageAction().GetRequestContext()
	if context.GetCloudRule() != "be \uFFFD brief" || context.GetEnv().GetOsVersion() != "linux 6.1.0" {
		t.Errorf("context %v", context)
	}
	for _, list := range [][]*cursorpb.McpToolDefinition{context.Tools, run.McpTools.McpTools} {
		if len(list) != 2 || list[0].Name != "a" || list[0].ToolName != "a" || list[0].ProviderIdentifier != "cursortray" || list[1].Name != "b" {
			t.Errorf("tools %v", list)
		}
	}
}

// TestRunVector compares with the bytes of another client.
func TestRunVector(t *testing.T) {
	o := opened()
	o.run = ""
	req := &chat.Request{Messages: []chat.Message{said("Hi")}}
	run, _ := built(t, req, settings{}, o)
	want := &cursorpb.AgentRunRequest{
		ConversationState: []byte{}, ConversationId: proto.String("c1"),
		RequestedModel: &cursorpb.RequestedModel{ModelId: "default"},
		Action: &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_UserMessageAction{UserMessageAction: &cursorpb.UserMessageAction{
			UserMessage: &cursorpb.UserMessage{Text: "Hi", MessageId: "m1", Mode: 1}}}},
	}
	// What a proxy adds to the least that works.
	run.RunId, run.McpTools, run.ClientSupportsRoutedModelUpdate = nil, nil, nil
	run.GetAction().GetUserMessageAction().RequestContext = nil
	if !proto.Equal(run, want) {
		t.Errorf("got %v, want %v", run, want)
	}
}

func TestR19_WebToolsAreOff(t *testing.T) {
	for _, off := range []*bool{
		requestContext(asks(), settings{}, &toolbox{}).WebSearchEnabled, requestContext(asks(), settings{}, &toolbox{}).WebFetchEnabled,
	} {
		if off == nil || *off {
			t.Errorf("sent as %v", off)
		}
	}
}

// TestR18_CompactionKeepsTheContext: a history that the client shortened is
// another conversation in the same surroundings.
func TestR18_CompactionKeepsTheContext(t *testing.T) {
	long := asks(toolSet(t, "camel")...)
	long.System = "rules"
	long.Messages = []chat.Message{said("a"), answered("b"), said("c")}
	short := asks(long.Tools...)
	short.System = long.System
	short.Messages = []chat.Message{said("summary"), answered("ok"), said("c")}
	if !bytes.Equal(contextBytes(t, long), contextBytes(t, short)) {
		t.Error("another context")
	}
	if printOf(long.Messages[:2]...) == printOf(short.Messages[:2]...) {
		t.Error("the same conversation")
	}
}

func TestWorkspaceAndFormat(t *testing.T) {
	req := asks()
	env := &cursorpb.RequestContextEnv{Shell: "bash"}
	req.Workspace = "/w"
	req.Format = chat.Format{JSON: true, Schema: []byte(`{"type":"object"}`)}
	c := requestContext(req, settings{env: env}, &toolbox{})
	if len(c.Env.WorkspacePaths) != 1 || c.Env.WorkspacePaths[0] != "/w" || c.Env.Shell != "bash" || len(env.WorkspacePaths) != 0 {
		t.Errorf("env %v of %v", c.Env, env)
	}
	if !strings.Contains(c.GetCloudRule(), `{"type":"object"}`) {
		t.Errorf("rule %q", c.GetCloudRule())
	}
	if requestContext(&chat.Request{}, settings{}, &toolbox{}).CloudRule != nil {
		t.Error("an empty rule is sent")
	}
}

func TestReplayedHistory(t *testing.T) {
	req := asks()
	req.System = "rules"
	req.Messages = []chat.Message{said("a"), answered("b"), said("c"), said("d")}
	run, blobs := built(t, req, settings{}, opened())
	if userOf(run).Text != "c\nd" || len(run.PreFetchedBlobs) != 2 || len(blobs) < 2 || len(run.ConversationState) == 0 {
		t.Errorf("%q, %d of %d blobs", userOf(run).Text, len(run.PreFetchedBlobs), len(blobs))
	}
	for _, b := range blobs {
		if bytes.Contains(b.data, []byte("rules")) {
			t.Error("the system text is in the state, where it is dropped")
		}
	}
	o := opened()
	o.replay = replayText
	run, blobs = built(t, req, settings{systemInFront: true}, o)
	text := userOf(run).Text
	if len(blobs) != 0 || len(run.ConversationState) != 0 || !strings.HasPrefix(text, "rules\n\n") || !strings.HasSuffix(text, "c\nd") ||
		!strings.Contains(text, "<your_earlier_answer>\nb\n") {
		t.Errorf("got %q", text)
	}
}

func TestKnownState(t *testing.T) {
	o := opened()
	o.state, o.known = []byte("opaque"), 2
	req := asks()
	req.Messages = []chat.Message{said("a"), answered("b"), said("c")}
	run, blobs := built(t, req, settings{}, o)
	if string(run.ConversationState) != "opaque" || userOf(run).Text != "c" || len(blobs) != 0 {
		t.Errorf("got %v", run)
	}
	req.Messages = append(req.Messages, answered("x"), said("d")) // the state is two turns behind
	run, _ = built(t, req, settings{}, o)
	if text := userOf(run).Text; !strings.HasSuffix(text, "d") || !strings.Contains(text, "<user>\nc\n</user>") || strings.Contains(text, "\na\n") {
		t.Errorf("got %q", text)
	}
	o.resume = true
	run, _ = built(t, req, settings{}, o)
	if run.GetAction().GetResumeAction().GetRequestContext() == nil || string(run.ConversationState) != "opaque" {
		t.Errorf("got %v", run)
	}
}

// TestRS3_ResultsWhoseRunIsGone: they and their calls end the history, and the
// model goes on.
func TestRS3_ResultsWhoseRunIsGone(t *testing.T) {
	req := asks()
	req.Messages = []chat.Message{said("a"), answered(called("x", "read", "{}")), said(gave("x", "the file"), gave("lost", "of a cut call"))}
	run, blobs := built(t, req, settings{}, opened())
	var all string
	for _, b := range blobs[:len(run.PreFetchedBlobs)] {
		all += string(b.data)
	}
	if !strings.Contains(all, `"result":"the file"`) {
		t.Errorf("the result is lost: %s", all)
	}
	if text := userOf(run).Text; text != "<tool_result>\nof a cut call\n</tool_result>\nContinue." {
		t.Errorf("got %q", text)
	}
	req.Messages[2].Parts = append(req.Messages[2].Parts, chat.Text{Text: "and hurry"})
	o := opened()
	o.replay = replayText
	run, _ = built(t, req, settings{}, o)
	if text := userOf(run).Text; !strings.HasSuffix(text, "and hurry") || !strings.Contains(text, "the file") {
		t.Errorf("got %q", text)
	}
	req.Messages = []chat.Message{said("a"), answered("half an ans")}
	if run, _ = built(t, req, settings{}, opened()); userOf(run).Text != "Continue." || len(run.PreFetchedBlobs) != 2 {
		t.Errorf("got %v", run)
	}
}

// pixel is a picture of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func TestImages(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	req := asks()
	req.Messages = []chat.Message{said(chat.Image{MIME: "image/png", Data: data}, chat.Image{MIME: "image/webp", Data: []byte("RIFF")})}
	run, _ := built(t, req, settings{}, opened())
	images := userOf(run).GetSelectedContext().GetSelectedImages()
	if userOf(run).Text != " " || len(images) != 2 || !run.GetClientSupportsInlineImages() {
		t.Fatalf("got %v", run)
	}
	if !bytes.Equal(images[0].GetData(), data) || images[0].MimeType != "image/png" || images[0].Dimension.GetWidth() != 1 || images[1].Dimension != nil ||
		images[0].Uuid == images[1].Uuid || len(images[0].Uuid) != 36 {
		t.Errorf("got %v", images)
	}
	for name, c := range map[string]struct {
		image chat.Image
		model *cursor.Entry
	}{
		"model without eyes": {chat.Image{MIME: "image/png", Data: data}, &cursor.Entry{}},
		"empty":              {chat.Image{MIME: "image/png"}, nil},
		"large":              {chat.Image{MIME: "image/png", Data: make([]byte, maxImage+1)}, &cursor.Entry{Images: true}},
	} {
		o := opened()
		o.model.Model = c.model
		box, _ := newToolbox(req)
		_, _, err := buildRun(&chat.Request{Messages: []chat.Message{said(c.image)}}, settings{}, box, o)
		if err == nil || err.Param != "messages" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEarlierImagesForAModelWithoutEyes(t *testing.T) {
	picture := chat.Image{MIME: "image/png", Data: []byte("p")}
	req := asks()
	req.Messages = []chat.Message{said("look", picture), answered(called("x", "shot", "{}")), said(gave("x", picture)), answered("nice"), said("go on")}
	o := opened()
	o.model.Model = &cursor.Entry{}
	run, _ := built(t, req, settings{}, o)
	var all string
	for _, b := range run.PreFetchedBlobs {
		all += string(b.Value)
	}
	if strings.Contains(all, "data:image") || strings.Count(all, "a picture that this model cannot see") != 2 {
		t.Errorf("got %s", all)
	}
}

func TestToolChoice(t *testing.T) {
	req := asks(chat.Tool{Name: "a"})
	for mode, want := range map[chat.ToolMode]string{
		chat.ToolAuto: "do it", chat.ToolNone: "do it",
		chat.ToolAny:   "do it\n\nYou must call at least one of the MCP tools of the server cursortray now.",
		chat.ToolNamed: "do it\n\nYou must call the MCP tool `a` now.",
	} {
		req.Choice = chat.ToolChoice{Mode: mode, Name: "a"}
		run, _ := built(t, req, settings{}, opened())
		if userOf(run).Text != want || len(run.McpTools.McpTools) != 1 {
			t.Errorf("%v: %q", mode, userOf(run).Text)
		}
	}
}

func TestR22_QuestionsAreRefused(t *testing.T) {
	fields := (&cursorpb.InteractionQuery{}).ProtoReflect().Descriptor().Oneofs().ByName("query").Fields()
	for i := range fields.Len() {
		q := &cursorpb.InteractionQuery{Id: 3}
		r := q.ProtoReflect()
		if fields.Get(i).Message() != nil {
			r.Set(fields.Get(i), r.NewField(fields.Get(i)))
		} else {
			r.Set(fields.Get(i), fields.Get(i).Default())
		}
		m, known := answerQuery(q)
		answer := m.GetInteractionResponse()
		field := answer.ProtoReflect().WhichOneof(answer.ProtoReflect().Descriptor().Oneofs().ByName("result"))
		if !known || answer.GetId() != 3 || field == nil || field.Number() != fields.Get(i).Number() {
			t.Errorf("%s: %v", fields.Get(i).Name(), answer)
		}
	}
}
