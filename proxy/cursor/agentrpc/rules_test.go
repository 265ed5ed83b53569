package agentrpc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	pb "cursortray/proxy/cursor/cursorpb"
)

// TestR20_WholeWritesAreTheClientsMatter: what the model writes after it has
// read a part goes to the client's tool as it is. Only the client knows the
// file, and whether that is meant.
func TestR20_WholeWritesAreTheClientsMatter(t *testing.T) {
	m := mapper(t, settings{}, asks(toolSet(t, "camel")...))
	lines := uint32(2)
	if plan := m.plan(&pb.ExecServerMessage{Id: 1, Message: &pb.ExecServerMessage_ReadArgs{ReadArgs: &pb.ReadArgs{Path: "/a", Limit: &lines}}}); plan.call == nil {
		t.Fatal("the part is not read")
	}
	plan := m.plan(&pb.ExecServerMessage{Id: 2, Message: &pb.ExecServerMessage_WriteArgs{WriteArgs: &pb.WriteArgs{Path: "/a", FileText: "a part\n"}}})
	if plan.call == nil || plan.call.name != "write" || !strings.Contains(string(plan.call.arguments), `"a part\n"`) {
		t.Errorf("got %+v", plan.call)
	}
}

// rules are what a client of the agent protocol has to keep to. The tests that
// show it have the rule's name in theirs.
var rules = map[string]string{
	"R1":   "the agent host comes from the server's settings, once per login, in memory",
	"R2":   "the bases of the API and of the agent are set apart",
	"R3":   "agent hosts are Cursor's own, over https",
	"R4":   "no telemetry by default",
	"R5":   "text of tools is passed on unchanged, and own cuts are said in it",
	"R6":   "written bytes win over written text",
	"R7":   "native work goes to whichever tool of the client fits",
	"R8":   "no file of the user is touched",
	"R9":   "the request context has the same bytes between turns",
	"R10":  "only the blobs that the newest checkpoint needs are kept, or all if that cannot be told",
	"R11":  "state that is too large or not whole is given up, and the history sent again",
	"R12":  "writes come one after the other, answers before heartbeats, under back-pressure",
	"R13":  "token details are the truth about the context; old ones are marked",
	"R14":  "usage comes once, at the end",
	"R15":  "the device stays the same",
	"R16":  "a new run supersedes the old one; at most 24 are open, and the oldest idle one goes first",
	"R17":  "no figure is made up",
	"R18":  "a rewritten history gets a new conversation in the same context",
	"R19":  "web tools are off",
	"R20":  "a write of the whole is the client's matter",
	"R21":  "loopback by default",
	"R22":  "what only an editor could answer is refused, and nothing stays unanswered",
	"ST10": "the turn's own end is the only success",
	"EM1":  "the last envelope's error decides the answer's",
	"RS3":  "results go on with the run, or with the history in a new one",
	"RS4":  "who leaves leaves nothing behind",
	"RS6":  "one request has one budget of runs",
}

func TestEveryRuleHasATest(t *testing.T) {
	found := map[string]bool{}
	root := filepath.Join("..", "..", "..")
	for _, dir := range []string{filepath.Join(root, "proxy", "cursor"), filepath.Join(root, "app", "config")} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok {
					rule, _, _ := strings.Cut(strings.TrimPrefix(f.Name.Name, "Test"), "_")
					found[rule] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for rule, words := range rules {
		if !found[rule] {
			t.Errorf("no test is named after %s: %s", rule, words)
		}
	}
}
