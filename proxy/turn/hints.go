package turn

import (
	"net/http"
	"os"
	"path/filepath"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// sessionHeaders are where clients put the id of their conversation, as seen
// in OpenCode, Kilo, Codex, pi and Claude Code. Others send nothing.
var sessionHeaders = []string{
	"X-Session-Id", "X-Session-Affinity", "Session-Id", "Session_id", "Thread-Id", "X-Claude-Code-Session-Id",
}

// maxSessionHint keeps a hint from becoming a store of its own.
const maxSessionHint = 256

// hints reads what the headers say about the conversation into req. A session
// that the body named stays if they name none.
func hints(header http.Header, req *chat.Request) (failure *chat.Error) {
	if hint := sessionHint(header); hint != "" || len(req.Session) > maxSessionHint {
		req.Session = hint
	}
	req.Workspace, failure = workspace(header)
	return failure
}

func sessionHint(header http.Header) string {
	for _, name := range sessionHeaders {
		if id := header.Get(name); id != "" && len(id) <= maxSessionHint {
			return id
		}
	}
	return ""
}

// WorkspaceHeader names the folder that the client lets the back-end work in.
const WorkspaceHeader = "X-Cursortray-Workspace"

// workspace returns the folder of a request, "" if it names none. The root of
// a file system is refused: it would hand over everything.
func workspace(header http.Header) (string, *chat.Error) {
	named := header.Get(WorkspaceHeader)
	if named == "" {
		return "", nil
	}
	refuse := func(problem string) (string, *chat.Error) {
		return "", &chat.Error{
			Kind: chat.Invalid, Code: wirejson.CodeInvalidValue, Param: WorkspaceHeader,
			Message: "the header " + WorkspaceHeader + " " + problem,
		}
	}
	if !filepath.IsAbs(named) {
		return refuse("must name a folder with its absolute path")
	}
	folder := filepath.Clean(named)
	info, err := os.Stat(folder)
	if err != nil || !info.IsDir() {
		return refuse("names a folder that does not exist")
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return refuse("names a folder that cannot be opened")
	}
	if filepath.Dir(real) == real {
		return refuse("must not name the root of a file system")
	}
	return folder, nil
}
