package simserver

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"cursortray/proxy/cursor/cursorpb"
)

// ReadFile asks for a file.
func ReadFile(path string) Step { return Native("read_args", &cursorpb.ReadArgs{Path: path}) }

// ReadLines asks for a part of a file.
func ReadLines(path string, offset int32, limit uint32) Step {
	return Native("read_args", &cursorpb.ReadArgs{Path: path, Offset: &offset, Limit: &limit})
}

// WriteFile asks to write a whole file.
func WriteFile(path, text string) Step {
	return Native("write_args", &cursorpb.WriteArgs{Path: path, FileText: text})
}

// WriteBytes asks to write bytes in some encoding; text, if there is one, must
// lose against them.
func WriteBytes(path, text string, data []byte, encoding string) Step {
	return Native("write_args", &cursorpb.WriteArgs{Path: path, FileText: text, FileBytes: data, EncodingHint: &encoding})
}

// EditFile is an edit by the model: it reads the file and writes it anew.
func EditFile(path, before, after string) Step {
	return func(r *Run) error {
		if err := ReadFile(path)(r); err != nil {
			return err
		}
		results := r.Last().Results
		if len(results) == 0 || results[0].GetReadResult().GetSuccess() == nil {
			return Text("I cannot read " + path + ".")(r)
		}
		text := results[0].GetReadResult().GetSuccess().GetContent()
		if !strings.Contains(text, before) {
			return fmt.Errorf("edit: what was read does not hold the text to replace")
		}
		return WriteFile(path, strings.Replace(text, before, after, 1))(r)
	}
}

// DeleteFile asks to delete a file.
func DeleteFile(path string) Step { return Native("delete_args", &cursorpb.DeleteArgs{Path: path}) }

// Shell asks to run a command and to answer once.
func Shell(command string) Step { return Native("shell_args", &cursorpb.ShellArgs{Command: command}) }

// ShellStream asks to run a command and to answer with its events.
func ShellStream(command string) Step {
	return Native("shell_stream_args", &cursorpb.ShellArgs{Command: command})
}

// Grep asks to search in files.
func Grep(pattern, path string) Step {
	return Native("grep_args", &cursorpb.GrepArgs{Pattern: pattern, Path: &path})
}

// Glob asks for files by their names, which is a search without a pattern.
func Glob(glob, path string) Step {
	return Native("grep_args", &cursorpb.GrepArgs{Glob: &glob, Path: &path})
}

// List asks for the content of a folder.
func List(path string) Step { return Native("ls_args", &cursorpb.LsArgs{Path: path}) }

// Fetch asks for a page.
func Fetch(url string) Step { return Native("fetch_args", &cursorpb.FetchArgs{Url: url}) }

// PiEdit asks for an edit in the shape of the Pi tools.
func PiEdit(path, before, after string) Step {
	return Native("pi_edit_args", &cursorpb.PiEditExecArgs{Path: path, Edits: []*cursorpb.PiEditReplacement{{OldText: before, NewText: after}}})
}

// SampleWork is a request of a kind of NativeKinds with something in every
// field that a client could look at.
func SampleWork(kind string) (*cursorpb.ExecServerMessage, error) {
	m, err := NativeRequest(kind, nil)
	if err != nil {
		return nil, err
	}
	field := m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(kind))
	if field.Message() != nil {
		fillSample(m.ProtoReflect().Mutable(field).Message())
	}
	return m, nil
}

// fillSample sets the texts of a message to what their names promise.
func fillSample(m protoreflect.Message) {
	texts := map[protoreflect.Name]string{
		"path": "/w/a.txt", "command": "ls", "working_directory": "/w", "pattern": "first", "glob": "*.txt", "url": "https://example.com/",
		"tool_call_id": "toolu_native", "file_text": "new text\n", "content": "new text\n", "prompt": "look around", "agent_id": "agent-1",
		"uri": "file:///w/a.txt", "server": "s", "query": "q", "provider_identifier": "cursortray", "tool_name": "read", "name": "read",
		"old_text": "first", "new_text": "second",
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		text, known := texts[field.Name()]
		switch {
		case field.Name() == "edits":
			fillSample(m.Mutable(field).List().AppendMutable().Message())
		case known && field.Kind() == protoreflect.StringKind && !field.IsList():
			m.Set(field, protoreflect.ValueOfString(text))
		}
	}
}

// EveryKind asks for work of every kind that the tables list, except the
// request context and calls of tools, and of one that they do not list.
func EveryKind() Step {
	return func(r *Run) error {
		for _, kind := range NativeKinds() {
			if kind == "request_context_args" || kind == "mcp_args" {
				continue
			}
			m, err := SampleWork(kind)
			if err == nil {
				err = Work(proto.CloneOf(m))(r)
			}
			if err != nil {
				return err
			}
		}
		return UnknownWork(99)(r)
	}
}
