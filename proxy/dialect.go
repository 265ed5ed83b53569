package proxy

import (
	"net/http"
	"strings"

	"cursortray/proxy/anthropic"
	"cursortray/proxy/chat"
	"cursortray/proxy/openai"
)

// speaksAnthropic tells in which dialect a request wants its errors, also when
// it did not get as far as a front-end. The path decides, so that what is below
// /messages and not served is refused in the dialect that its client reads. The
// list of models is the same for all; there a header of the dialect decides.
func speaksAnthropic(r *http.Request) bool {
	path := r.URL.Path
	for strings.HasPrefix(path, "/v1/") {
		path = path[len("/v1"):]
	}
	return below(path, "/messages") || below(path, "/models") && r.Header.Get("Anthropic-Version") != ""
}

func below(path, route string) bool {
	rest, ok := strings.CutPrefix(path, route)
	return ok && (rest == "" || rest[0] == '/')
}

// refuse turns a request away in the dialect of its route.
func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	recordOf(r).outcome = code
	if speaksAnthropic(r) {
		anthropic.Refuse(w, r, status, message)
		return
	}
	openai.Refuse(w, r, status, code, message)
}

// fail answers with an error in the dialect of the route.
func fail(w http.ResponseWriter, r *http.Request, err *chat.Error) {
	recordOf(r).failed(err)
	if speaksAnthropic(r) {
		anthropic.WriteError(w, r, err)
		return
	}
	openai.WriteError(w, r, err)
}
