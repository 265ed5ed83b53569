package simserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

const modelsBody = `{"includeLongContextModels":true,"useModelParameters":true,"useCloudAgentEffortModes":true}`

func TestModels(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	names := func() (names []string) {
		var list struct{ Models []struct{ Name string } }
		r := c.post(aiService+"AvailableModels", token, modelsBody)
		r.want(t, 200)
		if err := json.Unmarshal([]byte(r.body), &list); err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Models {
			names = append(names, m.Name)
		}
		return names
	}
	before := names()
	if got := strings.Join(before, " "); !strings.HasPrefix(got, "default composer-2.5 ") || !strings.Contains(got, "cmdk-small") {
		t.Errorf("models: %s", got)
	}
	longer, err := s.Catalog().With("brand-new-1", "Brand New 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetCatalog(longer); err != nil {
		t.Fatal(err)
	}
	if after := names(); len(after) != len(before)+1 || after[len(before)] != "brand-new-1" {
		t.Errorf("models with one more: %v", after)
	}
	for _, target := range []string{api + agentService, agent + agentService, api + aiService} {
		c.do(http.MethodPost, target+"GetUsableModels", token, "{}").want(t, 200, `"modelId":"composer-2.5"`, `"brand-new-1"`)
		c.do(http.MethodPost, target+"GetDefaultModelForCli", token, "{}").want(t, 200, `"modelId":"default"`)
	}
	wantRules(t, s)
	c.post(aiService+"AvailableModels", token, "{}").want(t, 200)
	wantRules(t, s, "body")
	if s.SetCatalog(Catalog{}) == nil {
		t.Error("an empty catalog was accepted")
	}
	if _, err := (Catalog{Available: []byte(`{"models":3}`)}).With("x", "y"); err == nil {
		t.Error("a broken list was extended")
	}
}

func TestModelsInProtobuf(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	c.edit = func(r *http.Request) { r.Header.Set("Content-Type", "application/proto") }
	var list cursorpb.GetUsableModelsResponse
	r := c.do(http.MethodPost, agent+agentService+"GetUsableModels", token, "")
	if err := proto.Unmarshal([]byte(r.body), &list); err != nil || r.status != 200 || r.header.Get("Content-Type") != "application/proto" {
		t.Fatalf("status %d, %s, %v", r.status, r.header.Get("Content-Type"), err)
	}
	if first := list.GetModels()[0]; first.GetModelId() != "default" || first.GetDisplayName() != "Auto" || len(first.GetAliases()) != 1 {
		t.Errorf("first of %d: %v", len(list.GetModels()), first)
	}
	var one cursorpb.GetDefaultModelForCliResponse
	r = c.post(agentService+"GetDefaultModelForCli", token, "")
	if err := proto.Unmarshal([]byte(r.body), &one); err != nil || one.GetModel().GetModelId() != "default" {
		t.Errorf("default: %v, %v", &one, err)
	}
	wantRules(t, s)
	c.post(aiService+"AvailableModels", token, "").want(t, 415)
	c.post(agentService+"GetUsableModels", "", "").want(t, 401)
}

func TestServerConfig(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	config := func(body string) reply { return c.post(configService+"GetServerConfig", token, body) }
	config(`{"telem_enabled":false}`).want(t, 200, `"agentnUrl":"https://agentn.us.api5.cursor.sh"`, `"agentUrl":"https://agent.api5.cursor.sh"`)
	config(`{}`).want(t, 200)
	mustChange(t, s, func(t *Settings) {
		t.AgentnURL, t.AgentURL, t.HTTP2 = "", "https://cursor.sh.evil.com", "HTTP2_CONFIG_FORCE_ALL_DISABLED"
	})
	r := config(`{"telem_enabled":false}`)
	r.want(t, 200, `"agentUrl":"https://cursor.sh.evil.com"`, `"http2Config":"HTTP2_CONFIG_FORCE_ALL_DISABLED"`)
	if strings.Contains(r.body, "agentnUrl") {
		t.Errorf("an empty URL is sent: %s", r.body)
	}
	wantRules(t, s)
	config(`{"telem_enabled":true}`).want(t, 200)
	config(`{"telemEnabled":true}`).want(t, 200)
	config(`[]`).want(t, 400)
	wantRules(t, s, "telemetry", "telemetry", "body")
	c.post(configService+"GetServerConfig", "", "{}").want(t, 401)
}
