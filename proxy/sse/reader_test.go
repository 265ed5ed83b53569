package sse

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestReader(t *testing.T) {
	tests := []struct {
		in   string
		want []Message
		err  error
	}{
		{"", nil, nil},
		{"data: a\n\n: keep-alive\n\n", []Message{{Data: "a"}, {Comment: "keep-alive"}}, nil},
		{"event: x\ndata: a\ndata:b\n\n", []Message{{Event: "x", Data: "a\nb"}}, nil},
		{"data: a\n\ndata: b\n", []Message{{Data: "a"}}, io.ErrUnexpectedEOF},
		{"data: a", nil, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		got, err := ReadAll(strings.NewReader(tt.in))
		if !slices.Equal(got, tt.want) || err != tt.err {
			t.Errorf("ReadAll(%q) = %+v, %v; want %+v, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("data: a\n\n: c\n\nevent: e\ndata: x\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		all, err := ReadAll(strings.NewReader(in))
		if err == nil && len(all) == 0 && in != "" {
			t.Errorf("ReadAll(%q) found nothing and no fault", in)
		}
	})
}
