package autostart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// launchAgent is the format of launchd's property lists.
type launchAgent struct{}

// agentLabel is the identifier of the macOS application, too.
const agentLabel = "io.github.cursortray"

const plistHead = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + agentLabel + `</string>
	<key>ProgramArguments</key>
	<array>
`

// Without KeepAlive: a program that its user has quit stays so. Aqua is a
// session with a screen; ssh has none.
const plistTail = `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>ProcessType</key>
	<string>Interactive</string>
	<key>LimitLoadToSessionType</key>
	<string>Aqua</string>
</dict>
</plist>
`

func (launchAgent) encode(command []string) ([]byte, error) {
	var text bytes.Buffer
	text.WriteString(plistHead)
	for _, word := range command {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == '\ufffd' || r == 0x7f }) {
			return nil, errors.New("a property list cannot start a program with a control character in its path")
		}
		text.WriteString("\t\t<string>")
		if err := xml.EscapeText(&text, []byte(word)); err != nil {
			return nil, err
		}
		text.WriteString("</string>\n")
	}
	text.WriteString(plistTail)
	return text.Bytes(), nil
}

// parse reads the top level of the dictionary. launchd has a list of its own of
// agents that were switched off, which only launchctl shows.
func (launchAgent) parse(text []byte) (bool, []string, error) {
	var agent plist
	if err := xml.Unmarshal(text, &agent); err != nil {
		return false, nil, fmt.Errorf("it is no property list in XML: %w", err)
	}
	command := agent.values["ProgramArguments"].words
	return len(command) > 0 && agent.values["Disabled"].name != "true", command, nil
}

// move writes the agent anew: nobody else writes into it, and launchd has no
// such thing as a delay.
func (l launchAgent) move(text []byte, command []string) ([]byte, error) {
	on, _, err := l.parse(text)
	if err != nil {
		return nil, err
	}
	moved, err := l.encode(command)
	if err == nil && !on {
		moved = bytes.Replace(moved, []byte("\t<key>RunAtLoad</key>"), []byte("\t<key>Disabled</key>\n\t<true/>\n\t<key>RunAtLoad</key>"), 1)
	}
	return moved, err
}

// plist is a property list whose value is a dictionary.
type plist struct{ values map[string]plistValue }

type plistValue struct {
	name  string   // of the element
	words []string // of an array
}

// UnmarshalXML reads <plist><dict>(<key>…</key> value)*</dict></plist>.
func (p *plist) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	p.values = map[string]plistValue{}
	key := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local == "dict" && key == "" {
			continue
		}
		switch start.Name.Local {
		case "key":
			if err := d.DecodeElement(&key, &start); err != nil {
				return err
			}
			continue
		case "array":
			var list struct {
				Words []string `xml:"string"`
			}
			err = d.DecodeElement(&list, &start)
			p.values[key] = plistValue{"array", list.Words}
		default:
			err = d.Skip()
			p.values[key] = plistValue{name: start.Name.Local}
		}
		if err != nil {
			return err
		}
		key = ""
	}
}
