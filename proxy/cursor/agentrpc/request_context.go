package agentrpc

import (
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// requestContext is what the client tells about itself. It is the same for the
// same system text and the same tools in whatever order, and it says nothing of
// the user's disk but the folder that the client named.
func requestContext(req *chat.Request, s settings, tools *toolbox) *cursorpb.RequestContext {
	c := &cursorpb.RequestContext{
		Env: s.env, Tools: tools.definitions,
		// Both are there and off: the service's own web tools would act where
		// the client cannot see it.
		WebSearchEnabled: proto.Bool(false), WebFetchEnabled: proto.Bool(false),
		GitRepoInfoComplete: true, McpInfoComplete: true, RulesInfoComplete: true, EnvInfoComplete: true,
		RepositoryInfoComplete: true, CustomSubagentsInfoComplete: true, AgentSkillsInfoComplete: true,
		McpFileSystemInfoComplete: true, GitStatusInfoComplete: true,
	}
	if rule := systemText(req); rule != "" {
		c.CloudRule = proto.String(rule)
	}
	if req.Workspace != "" {
		c.Env = proto.CloneOf(s.env)
		if c.Env == nil {
			c.Env = &cursorpb.RequestContextEnv{}
		}
		c.Env.WorkspacePaths = []string{valid(req.Workspace)}
	}
	return c
}

// systemText is the client's system text with the form of the answer that it
// asks for.
func systemText(req *chat.Request) string {
	text := valid(req.System)
	rule := formatRule(req.Format)
	switch {
	case rule == "":
		return text
	case text == "":
		return rule
	}
	return text + "\n\n" + rule
}

// formatRule asks for JSON; nothing makes the model obey.
func formatRule(f chat.Format) string {
	switch {
	case !f.JSON:
		return ""
	case f.Schema == nil:
		return "Answer with one JSON object and nothing else: no prose around it, no code fence."
	}
	return "Answer with one JSON value and nothing else: no prose around it, no code fence. It must match this JSON Schema: " + valid(string(f.Schema))
}
