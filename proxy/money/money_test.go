package money

import (
	"encoding/json"
	"testing"
)

func TestAmountForPeople(t *testing.T) {
	tests := []struct{ text, exact, dollars, short string }{
		{"0", "$0.00", "$0.00", "0¢"},
		{"0.000000000001", "$0.000000000001", "$0.00", "<0.01¢"},
		{"0.000049999", "$0.000049999", "$0.00", "<0.01¢"},
		{"0.00005", "$0.00005", "$0.00", "0.01¢"},
		{"0.000314", "$0.000314", "$0.00", "0.03¢"},
		{"0.0495124", "$0.0495124", "$0.05", "4.95¢"},
		{"0.05", "$0.05", "$0.05", "5¢"},
		{"0.099949999", "$0.099949999", "$0.10", "9.99¢"},
		{"0.09995", "$0.09995", "$0.10", "$0.10"},
		{"0.1", "$0.10", "$0.10", "$0.10"},
		{"1.385", "$1.385", "$1.39", "$1.39"},
		{"40000", "$40000.00", "$40000.00", "$40000.00"},
	}
	for _, tt := range tests {
		var m Amount
		if err := m.UnmarshalText([]byte(tt.text)); err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
		if m.String() != tt.exact || m.Dollars() != tt.dollars || m.Short() != tt.short {
			t.Errorf("%s: %s %s %s, want %s %s %s", tt.text, m, m.Dollars(), m.Short(), tt.exact, tt.dollars, tt.short)
		}
		text, err := json.Marshal(m)
		if err != nil || `"`+tt.exact[1:]+`"` != string(text) {
			t.Errorf("%s: JSON %s, %v", tt.text, text, err)
		}
	}
	for _, text := range []string{"", ".", ".5", "5.", "-1", "+1", "1e3", "1,5", "0x10", "NaN", "١", "0.0000000000001", "99999999999", "1.2.3"} {
		var m Amount
		if m.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q was read as %s", text, m)
		}
	}
}

func FuzzAmount(f *testing.F) {
	f.Add("0.135951")
	f.Add("1e9")
	f.Fuzz(func(t *testing.T, text string) {
		var m, again Amount
		if m.UnmarshalText([]byte(text)) != nil {
			return
		}
		out, _ := m.MarshalText()
		if err := again.UnmarshalText(out); err != nil || again != m || m.Pico() < 0 {
			t.Errorf("%q -> %s -> %v, %v", text, out, again, err)
		}
		if m.Dollars() == "" || m.Short() == "" {
			t.Error("no text")
		}
	})
}
