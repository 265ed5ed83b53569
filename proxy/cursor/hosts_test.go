package cursor

import (
	"net/url"
	"strings"
	"testing"
)

func TestSE3_AgentHosts(t *testing.T) {
	tests := []struct{ in, want string }{
		{"https://agentn.us.api5.cursor.sh", "https://agentn.us.api5.cursor.sh"},
		{"  agentn.global.api5.cursor.sh\n", "https://agentn.global.api5.cursor.sh"},
		{"https://AGENT.api5.Cursor.SH:8443/path?x=1#y", "https://agent.api5.cursor.sh:8443"},
		{"", ""},
		{"http://agent.api5.cursor.sh", ""},
		{"https://cursor.sh.evil.com", ""},
		{"https://evilcursor.sh", ""},
		{"https://api.evilcursor.sh", ""},
		{"https://cursor.sh", ""},
		{"https://a.cursor.sh.", ""},
		{"https://.cursor.sh", ""},
		{"https://user@a.cursor.sh", ""},
		{"https://evil.com/.cursor.sh", ""},
		{"https://evil.com#.cursor.sh", ""},
		{"https://evil.com?.cursor.sh", ""},
		{"https://evil.com\\.cursor.sh", ""},
		{"https://127.0.0.1", ""},
		{"https://[::1]", ""},
		{"127.0.0.1:443", ""},
		{"javascript://a.cursor.sh", ""},
		{"https://ä.cursor.sh", ""},
		{"https://a.curſor.sh", ""}, // a long s, which folds to s
		{"https://a\ncursor.sh", ""},
		{"://", ""},
	}
	for _, tt := range tests {
		got, err := ParseAgentURL(tt.in)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("ParseAgentURL(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

func FuzzParseAgentURL(f *testing.F) {
	f.Add("https://a.cursor.sh")
	f.Add("https://a.cursor.sh.evil.com:443/x")
	f.Fuzz(func(t *testing.T, in string) {
		got, err := ParseAgentURL(in)
		if err != nil {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Path != "" || !strings.HasSuffix(u.Hostname(), ".cursor.sh") {
			t.Errorf("%q gives %q", in, got)
		}
		if again, err := ParseAgentURL(got); err != nil || again != got {
			t.Errorf("%q became %q, %v", got, again, err)
		}
	})
}

func TestParseHosts(t *testing.T) {
	tests := []struct{ api, website, wantAPI, wantWebsite, wantErr string }{
		{"", " ", "https://api2.cursor.sh", "https://cursor.com", ""},
		{"https://127.0.0.1:8443/", "https://example.com/cursor/", "https://127.0.0.1:8443", "https://example.com/cursor", ""},
		{"http://127.0.0.1:8080", "", "", "", "CURSOR_API_BASE_URL: it has to begin with https://"},
		{"", "http://example.com", "", "", "CURSOR_WEBSITE_URL: it has to begin with https://"},
		{"example.com", "", "", "", "CURSOR_API_BASE_URL: it is no URL such as https://host"},
		{"https://me:secret@example.com", "", "", "", "CURSOR_API_BASE_URL: it may have a host and a path only"},
		{"https://example.com\x00secret", "", "", "", "CURSOR_API_BASE_URL: it is no URL such as https://host"},
	}
	for _, tt := range tests {
		h, err := ParseHosts(tt.api, tt.website)
		if tt.wantErr != "" {
			if err == nil || err.Error() != tt.wantErr {
				t.Errorf("ParseHosts(%q, %q): %v, want %s", tt.api, tt.website, err, tt.wantErr)
			}
			continue
		}
		if err != nil || h.API() != tt.wantAPI || h.Website() != tt.wantWebsite {
			t.Errorf("ParseHosts(%q, %q) = %+v, %v", tt.api, tt.website, h, err)
		}
	}
	if (Hosts{}).API() != defaultAPI || (Hosts{}).Website() != defaultWebsite {
		t.Error("the zero Hosts are not Cursor's own")
	}
}
