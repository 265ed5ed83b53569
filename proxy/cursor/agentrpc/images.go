package agentrpc

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // sizes of pictures
	_ "image/jpeg" // sizes of pictures
	_ "image/png"  // sizes of pictures

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// maxImage is the largest picture that other clients were seen to send.
const maxImage = 5 << 20

// selectedImages are the pictures of the user's turn, inline: as blobs they
// would have to be asked for.
func selectedImages(o opening, turn []chat.Message) ([]*cursorpb.SelectedImage, *chat.Error) {
	var images []*cursorpb.SelectedImage
	for _, m := range turn {
		for _, part := range m.Parts {
			picture, ok := part.(chat.Image)
			if !ok {
				continue
			}
			if err := checkImage(o, picture); err != nil {
				return nil, err
			}
			images = append(images, &cursorpb.SelectedImage{
				DataOrBlobId: &cursorpb.SelectedImage_Data{Data: picture.Data},
				Uuid:         derivedUUID(fmt.Sprint(o.message, " image ", len(images))),
				MimeType:     valid(picture.MIME),
				Dimension:    dimension(picture.Data),
			})
		}
	}
	return images, nil
}

func checkImage(o opening, picture chat.Image) *chat.Error {
	switch {
	case !takesImages(o):
		return &chat.Error{Kind: chat.Invalid, Param: "messages", Message: "this model takes no pictures; choose another one or leave the picture out"}
	case len(picture.Data) == 0:
		return &chat.Error{Kind: chat.Invalid, Param: "messages", Message: "a picture of the request is empty"}
	case len(picture.Data) > maxImage:
		return &chat.Error{Kind: chat.TooLarge, Param: "messages", Message: "a picture of the request is larger than 5 MB; make it smaller"}
	}
	return nil
}

func takesImages(o opening) bool { return o.model.Model == nil || o.model.Model.Images }

// withoutImages puts words in the place of the pictures of earlier turns, which
// another model has seen.
func withoutImages(messages []chat.Message) []chat.Message {
	out := make([]chat.Message, len(messages))
	for i, m := range messages {
		out[i] = chat.Message{Role: m.Role, Parts: wordsForImages(m.Parts)}
	}
	return out
}

func wordsForImages(parts []chat.Part) []chat.Part {
	out := make([]chat.Part, len(parts))
	for i, part := range parts {
		switch part := part.(type) {
		case chat.Image:
			out[i] = chat.Text{Text: "[a picture that this model cannot see]"}
		case chat.ToolResult:
			part.Content = wordsForImages(part.Content)
			out[i] = part
		default:
			out[i] = part
		}
	}
	return out
}

// dimension reads the size from a picture's head; nil where it is not known.
func dimension(data []byte) *cursorpb.SelectedImage_Dimension {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return &cursorpb.SelectedImage_Dimension{Width: int32(config.Width), Height: int32(config.Height)}
}
