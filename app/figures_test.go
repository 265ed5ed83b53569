package app

import (
	"math"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// TestMU4_ContextLine: the present occupancy, or none.
func TestMU4_ContextLine(t *testing.T) {
	tests := []struct {
		context *chat.Context
		stale   bool
		line    string
		left    int // -1 is not known
	}{
		{&chat.Context{Used: 45_000, Max: 256_000}, false, "Context 45K / 256K (17.6%)", 211_000},
		{&chat.Context{Used: 84_250, Max: 200_000}, false, "Context 84.3K / 200K (42.1%)", 115_750},
		{&chat.Context{Used: 612_345, Max: 1_000_000}, false, "Context 612.3K / 1M (61.2%)", 387_655},
		{&chat.Context{Used: 310_000, Max: 300_000}, false, "Context 310K / 300K (100%)", 0},
		{&chat.Context{Used: 0, Max: 200_000}, false, "Context 0 / 200K (0%)", 200_000},
		{&chat.Context{Used: 45_123}, false, "Context 45.1K", -1},
		{&chat.Context{Used: 182_400, Max: 200_000}, true, "Context 182.4K / 200K (91.2%) · last turn", 17_600},
		{&chat.Context{Used: 31_980, Max: 200_000}, false, "Context 32K / 200K (16%)", 168_020},
		{nil, false, "Context —", -1},
		{&chat.Context{Used: 41_250, Max: 100_000}, false, "Context 41.3K / 100K (41.3%)", 58_750},
		{&chat.Context{Used: -5, Max: 100}, false, "Context 0 / 100 (0%)", 100},
		{&chat.Context{Used: math.MaxInt32 - 1, Max: math.MaxInt32}, false, "Context 2147.48M / 2147.48M (100%)", 1},
	}
	for _, tt := range tests {
		if got := ContextLine(tt.context, tt.stale); got != tt.line {
			t.Errorf("%q, want %q", got, tt.line)
		}
		left, ok := ContextLeft(tt.context)
		if !ok {
			left = -1
		}
		if left != tt.left {
			t.Errorf("%s: %d left, want %d", tt.line, left, tt.left)
		}
	}
}

func TestTokenCount(t *testing.T) {
	tests := []struct {
		n    int
		want string
	}{
		{-1, "0"}, {math.MinInt, "0"}, {0, "0"}, {999, "999"}, {1000, "1K"}, {1049, "1K"}, {1050, "1.1K"}, {9_000, "9K"}, {35_000, "35K"},
		{999_949, "999.9K"}, {999_950, "1M"}, {1_004_999, "1M"}, {1_005_000, "1.01M"}, {1_050_000, "1.05M"}, {12_500_000, "12.5M"},
	}
	if got := ContextLine(&chat.Context{Used: math.MaxInt, Max: math.MaxInt}, false); !strings.HasSuffix(got, "M (100%)") {
		t.Error(got)
	}
	for _, tt := range tests {
		if got := TokenCount(tt.n); got != tt.want {
			t.Errorf("%d: %q, want %q", tt.n, got, tt.want)
		}
	}
}
