package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"cursortray/app/config"
)

type helpCmd struct {
	Topic []string `arg:"" optional:"" help:"A command, or settings."`
}

func (c *helpCmd) Run(p *process) error {
	if len(c.Topic) == 1 && c.Topic[0] == "settings" {
		return p.helpSettings()
	}
	// The parser prints the help and ends the process.
	_, err := p.parser.Parse(append(c.Topic, "--help"))
	if err != nil {
		return &usageError{err}
	}
	return nil
}

func (p *process) helpSettings() error {
	file := "config.toml in the configuration folder"
	if dirs, err := config.Folders(p.env); err == nil {
		file = dirs.FilePath(p.env)
	}
	fmt.Fprintf(p.stdout, `Settings are lines of "key = value" (TOML) in
  %s
which CURSORTRAY_CONFIG can move. A flag of the command line wins over the
environment variable, that over the file, and that over the default.
`, file)
	for _, row := range config.Table() {
		def := row.Default
		if def == "" {
			def = "none"
		}
		fmt.Fprintf(p.stdout, "\n%s\n", row.Key)
		out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintf(out, "    environment\t%s\n    value\t%s\n    default\t%s\n", row.Env(), row.Values, def)
		if err := out.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "    %s\n", strings.Join(wrap(row.Doc, 76), "\n    "))
	}
	return nil
}

// wrap breaks text into lines of at most width characters where it can.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
