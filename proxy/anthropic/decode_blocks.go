package anthropic

import (
	"encoding/base64"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// content returns what a message or a result says: a string, null, nothing, or
// an array of blocks.
func (d *decoder) content(v wirejson.Value) []chat.Part {
	if v.Absent() {
		return nil
	}
	var parts []chat.Part
	switch v.Raw[0] {
	case '"':
		parts = appendText(parts, v.Text())
	case '[':
		for element := range v.Elements() {
			parts = d.block(parts, element)
		}
	default:
		d.Mistyped(v, "a string or an array of blocks")
	}
	return parts
}

// appendText leaves empty texts out.
func appendText(parts []chat.Part, text string) []chat.Part {
	if text == "" {
		return parts
	}
	return append(parts, chat.Text{Text: text})
}

// block appends the parts that one block stands for. Blocks of kinds that are
// not known are left out, as well as thinking that only its maker can read.
func (d *decoder) block(parts []chat.Part, v wirejson.Value) []chat.Part {
	if v.Absent() {
		d.Mistyped(v, "an object")
		return parts
	}
	in := d.Object(v, &blockShape)
	if d.Fault != nil {
		return parts
	}
	switch kind := d.Required(in.Get("type")); kind {
	case "text":
		return appendText(parts, d.Text(d.Present(in.Get("text"))))
	case "image":
		return d.image(parts, in.Get("source"))
	case "document":
		return d.document(parts, in.Get("source"))
	case "tool_use":
		return append(parts, d.call(in))
	case "tool_result":
		return append(parts, d.result(in))
	case "thinking":
		if text := d.Text(in.Get("thinking")); text != "" {
			return append(parts, chat.Reasoning{Text: text})
		}
	case "redacted_thinking", "tool_reference":
	default:
		if d.Unknown != nil {
			d.Unknown(v.Field() + " of type " + kind)
		}
	}
	return parts
}

// image decodes a picture. Those elsewhere are refused: to fetch them would let
// any client make this machine call any address.
func (d *decoder) image(parts []chat.Part, v wirejson.Value) []chat.Part {
	source := d.Object(d.Present(v), &sourceShape)
	kind := source.Get("type")
	if name := d.Required(kind); d.Fault == nil && name != "base64" {
		d.Fail(kind, wirejson.CodeInvalidValue, "must be base64; pictures are not fetched from elsewhere")
	}
	mime, data := d.Required(source.Get("media_type")), d.Required(source.Get("data"))
	if d.Fault != nil {
		return parts
	}
	picture, problem := wirejson.Picture(mime, data)
	if problem != "" {
		d.Fail(v, wirejson.CodeInvalidValue, "%s", problem)
		return parts
	}
	return append(parts, picture)
}

// document takes plain text in any of its wrappings.
func (d *decoder) document(parts []chat.Part, v wirejson.Value) []chat.Part {
	source := d.Object(d.Present(v), &sourceShape)
	kind := d.Required(source.Get("type"))
	if d.Fault != nil {
		return parts
	}
	mime, data := source.Get("media_type"), source.Get("data")
	switch {
	case kind == "text":
		return appendText(parts, d.Text(d.Present(data)))
	case kind == "content":
		return append(parts, d.content(source.Get("content"))...)
	case kind == "base64" && d.Text(mime) == "text/plain":
		text, err := base64.StdEncoding.DecodeString(d.Required(data))
		if err != nil {
			d.Fail(data, wirejson.CodeInvalidValue, "is not valid base64 data")
		}
		return appendText(parts, string(text))
	}
	d.Fail(v, wirejson.CodeUnsupported, "must be plain text or pictures: Cursor's models take no other documents")
	return parts
}

// call returns a call of an earlier answer, with its arguments as the client
// echoes them.
func (d *decoder) call(in wirejson.Object) chat.ToolUse {
	use := chat.ToolUse{ID: d.Required(in.Get("id")), Name: d.Required(in.Get("name"))}
	if input := in.Get("input"); !input.Absent() {
		use.Arguments = string(input.Raw)
	}
	return use
}

// result returns the result of a call. One without content says that the tool
// gave nothing.
func (d *decoder) result(in wirejson.Object) chat.ToolResult {
	result := chat.ToolResult{CallID: d.Required(in.Get("tool_use_id")), Failed: d.Boolean(in.Get("is_error"), false)}
	for _, part := range d.content(in.Get("content")) {
		switch part.(type) {
		case chat.Text, chat.Image:
			result.Content = append(result.Content, part)
		}
	}
	return result
}
