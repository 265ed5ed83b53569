package simserver

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// Catalog is what the account may use, as the three model calls answer in JSON.
type Catalog struct {
	Available json.RawMessage `json:"available"` // AvailableModels
	Usable    json.RawMessage `json:"usable"`    // GetUsableModels
	Default   json.RawMessage `json:"default"`   // GetDefaultModelForCli
}

//go:embed data/catalog.json
var catalogJSON []byte

// DefaultCatalog is an invented list in the shape of October 2026: families
// with variants, and entries that a client must hide.
func DefaultCatalog() (Catalog, error) {
	var c Catalog
	if err := json.Unmarshal(catalogJSON, &c); err != nil {
		return Catalog{}, fmt.Errorf("read the catalog: %w", err)
	}
	return c, nil
}

// SetCatalog replaces what the account may use.
func (s *Sim) SetCatalog(c Catalog) error {
	for _, part := range []json.RawMessage{c.Available, c.Usable, c.Default} {
		if !json.Valid(part) {
			return fmt.Errorf("set the catalog: one of its parts is not JSON")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catalog = c
	return nil
}

// Catalog returns what the account may use.
func (s *Sim) Catalog() Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.catalog
}

// With returns the catalog with one more plain model: an agent model without
// variants.
func (c Catalog) With(id, label string) (Catalog, error) {
	var err error
	if c.Available, err = appendModel(c.Available, map[string]any{
		"name": id, "defaultOn": true, "supportsAgent": true, "supportsNonMaxMode": true,
		"contextTokenLimit": 200_000, "clientDisplayName": label, "serverModelName": id,
	}); err != nil {
		return Catalog{}, err
	}
	c.Usable, err = appendModel(c.Usable, map[string]any{"modelId": id, "displayModelId": id, "displayName": label, "displayNameShort": label})
	return c, err
}

func appendModel(list json.RawMessage, model map[string]any) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(list, &fields); err != nil {
		return nil, fmt.Errorf("add a model: %w", err)
	}
	var models []json.RawMessage
	if err := json.Unmarshal(fields["models"], &models); err != nil {
		return nil, fmt.Errorf("add a model: %w", err)
	}
	text, err := json.Marshal(model)
	if err != nil {
		return nil, fmt.Errorf("add a model: %w", err)
	}
	if fields["models"], err = json.Marshal(append(models, text)); err != nil {
		return nil, fmt.Errorf("add a model: %w", err)
	}
	return json.Marshal(fields)
}

func (s *Sim) availableModels(c *call) answer {
	var asked struct{ UseModelParameters bool }
	if _, refused := s.authorize(c); refused != nil {
		return *refused
	}
	if refused := s.decode(c, &asked); refused != nil {
		return *refused
	}
	if !asked.UseModelParameters {
		s.violate(c, "body", "without useModelParameters the list has no variants")
	}
	return rawJSON(s.Catalog().Available)
}

func (s *Sim) usableModels(c *call) answer {
	return s.modelCall(c, s.Catalog().Usable, &cursorpb.GetUsableModelsResponse{})
}

func (s *Sim) defaultModel(c *call) answer {
	return s.modelCall(c, s.Catalog().Default, &cursorpb.GetDefaultModelForCliResponse{})
}

// modelCall answers in the form of the question: JSON, or protobuf by way of
// an empty message.
func (s *Sim) modelCall(c *call, list json.RawMessage, message proto.Message) answer {
	if _, refused := s.authorize(c); refused != nil {
		return *refused
	}
	if !strings.HasPrefix(c.r.Header.Get("Content-Type"), "application/proto") {
		if refused := s.decode(c, &struct{}{}); refused != nil {
			return *refused
		}
		return rawJSON(list)
	}
	err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(list, message)
	var body []byte
	if err == nil {
		body, err = proto.Marshal(message)
	}
	if err != nil {
		return connectError(http.StatusInternalServerError, "internal", fmt.Sprintf("encode the models: %v", err))
	}
	return answer{status: http.StatusOK, contentType: "application/proto", body: body}
}

func rawJSON(body []byte) answer {
	return answer{status: http.StatusOK, contentType: "application/json", body: body}
}

// serverConfig tells the client where runs happen.
func (s *Sim) serverConfig(c *call) answer {
	var asked struct {
		Telemetry *bool `json:"telem_enabled"`
		CamelCase *bool `json:"telemEnabled"`
	}
	if _, refused := s.authorize(c); refused != nil {
		return *refused
	}
	if refused := s.decode(c, &asked); refused != nil {
		return *refused
	}
	if asked.Telemetry != nil && *asked.Telemetry || asked.CamelCase != nil && *asked.CamelCase {
		s.violate(c, "telemetry", "telemetry is on")
	}
	settings := s.Settings()
	urls := map[string]string{}
	if settings.AgentURL != "" {
		urls["agentUrl"] = settings.AgentURL
	}
	if settings.AgentnURL != "" {
		urls["agentnUrl"] = settings.AgentnURL
	}
	config := map[string]any{"agentUrlConfig": urls, "bugConfigResponse": map[string]any{}}
	if settings.HTTP2 != "" {
		config["http2Config"] = settings.HTTP2
	}
	return jsonAnswer(config)
}
