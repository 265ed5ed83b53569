package agentsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// replay writes the fixture's bytes in the script's pieces. An expectation file
// beside the fixture says how the process ends.
func (p *program) replay(end ending) (ending, error) {
	text, err := os.ReadFile(p.script.Fixture)
	if err != nil {
		return end, fmt.Errorf("fixture: %w", err)
	}
	size := p.script.Chunk
	if size <= 0 {
		size = max(len(text), 1)
	}
	for len(text) > 0 {
		n := min(size, len(text))
		if _, err := p.stdout.Write(text[:n]); err != nil {
			return end, err
		}
		text = text[n:]
		if p.script.Delay > 0 {
			time.Sleep(p.script.Delay)
		}
	}
	return p.expectedEnd(end)
}

func (p *program) expectedEnd(end ending) (ending, error) {
	name := strings.TrimSuffix(p.script.Fixture, ".ndjson") + ".expected.json"
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return end, nil
	}
	if err != nil {
		return end, fmt.Errorf("expectation of the fixture: %w", err)
	}
	pair := struct {
		Process *ending `json:"process"`
	}{&end}
	if err := json.Unmarshal(text, &pair); err != nil {
		return end, fmt.Errorf("expectation of the fixture: %w", err)
	}
	return end, nil
}
