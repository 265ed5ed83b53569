package autostart

import (
	"errors"
	"fmt"
	"strings"
)

// desktopEntry is the format of the freedesktop Desktop Entry Specification, as
// the Autostart specification uses it.
type desktopEntry struct{}

const (
	entryGroup = "[Desktop Entry]"
	hiddenKey  = "Hidden"                    // the entry counts as removed
	enabledKey = "X-GNOME-Autostart-enabled" // what session settings write
	execKey    = "Exec"
)

func (desktopEntry) encode(command []string) ([]byte, error) {
	exec, err := execValue(command)
	if err != nil {
		return nil, err
	}
	return []byte(entryGroup + `
Type=Application
Name=cursortray
Comment=Use your Cursor subscription from any editor
` + execKey + "=" + exec + `
Icon=cursortray
Terminal=false
StartupNotify=false
` + enabledKey + `=true
`), nil
}

func (desktopEntry) parse(text []byte) (bool, []string, error) {
	values := map[string]string{}
	eachKey(string(text), func(key, value string) { values[key] = value })
	exec, ok := values[execKey]
	if !ok {
		// An entry can consist of Hidden alone: it switches one of the system off.
		return false, nil, nil
	}
	command, err := splitExec(exec)
	on := !strings.EqualFold(values[hiddenKey], "true") && !strings.EqualFold(values[enabledKey], "false")
	return on, command, err
}

// move replaces the command and leaves the rest, such as a delay that a
// desktop's settings have added.
func (desktopEntry) move(text []byte, command []string) ([]byte, error) {
	exec, err := execValue(command)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	eachKeyLine(lines, func(i int, key, _ string) {
		if key == execKey {
			lines[i] = execKey + "=" + exec + "\n"
		}
	})
	return []byte(strings.Join(lines, "")), nil
}

// eachKey calls do for each entry of the main group.
func eachKey(text string, do func(key, value string)) {
	eachKeyLine(strings.Split(text, "\n"), func(_ int, key, value string) { do(key, value) })
}

func eachKeyLine(lines []string, do func(i int, key, value string)) {
	inside := false
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == entryGroup
		}
		key, value, ok := strings.Cut(line, "=")
		if inside && ok && !strings.HasPrefix(line, "#") {
			do(i, strings.TrimSpace(key), strings.TrimSpace(value))
		}
	}
}

// execValue writes a command as a value of Exec. There are two levels: words
// are quoted as in a shell, and the result is a string, in which a backslash
// escapes; a percent sign would begin a field code.
func execValue(command []string) (string, error) {
	if strings.Contains(command[0], "=") {
		return "", fmt.Errorf("a desktop entry cannot start a program with = in its path: %s", command[0])
	}
	words := make([]string, len(command))
	for i, word := range command {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", errors.New("a desktop entry cannot start a program with a control character in its path")
		}
		if i > 0 && plainWord(word) {
			words[i] = word
			continue
		}
		words[i] = `"` + shellQuoted.Replace(word) + `"`
	}
	exec := strings.Join(words, " ")
	exec = strings.ReplaceAll(exec, `\`, `\\`)
	return strings.ReplaceAll(exec, "%", "%%"), nil
}

var shellQuoted = strings.NewReplacer(`"`, `\"`, "`", "\\`", "$", `\$`, `\`, `\\`)

func plainWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:", r)
	})
}

// splitExec reads a value of Exec. Field codes stand for what is opened with
// the program, which is nothing here.
func splitExec(value string) ([]string, error) {
	text, err := unescape(value)
	if err != nil {
		return nil, err
	}
	var words []string
	var word strings.Builder
	begun, quoted := false, false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case c == '"':
			quoted, begun = !quoted, true
		case c == '\\' && quoted && next != 0:
			i++
			word.WriteByte(next)
		case c == '%' && next == '%':
			i++
			begun = true
			word.WriteByte('%')
		case c == '%' && next != 0:
			i++
		case (c == ' ' || c == '\t') && !quoted:
			end()
		default:
			begun = true
			word.WriteByte(c)
		}
	}
	if quoted {
		return nil, errors.New("the command has a quotation mark without its fellow")
	}
	end()
	return words, nil
}

// unescape reads the escapes of a value that is a string.
func unescape(value string) (string, error) {
	var text strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			text.WriteByte(value[i])
			continue
		}
		i++
		if i == len(value) {
			return "", errors.New("the command ends in a backslash")
		}
		switch value[i] {
		case 's':
			text.WriteByte(' ')
		case 'n':
			text.WriteByte('\n')
		case 't':
			text.WriteByte('\t')
		case 'r':
			text.WriteByte('\r')
		case '\\':
			text.WriteByte('\\')
		default: // unknown, so it stays
			text.WriteString(value[i-1 : i+1])
		}
	}
	return text.String(), nil
}
