package proxy

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// pagesOf serves a page that a browser shows and a stream that never ends.
func pagesOf(ended chan<- error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/dashboard/{$}", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a page") })
	mux.HandleFunc("/dashboard/events", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, ": hello\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		ended <- context.Cause(r.Context())
	})
	return mux
}

func TestSE1_PagesAreForTheirOwnOriginOnly(t *testing.T) {
	p := serve(t, hello(), func(cfg *Config) {
		cfg.Pages = pagesOf(nil)
		cfg.Origins = []string{"http://localhost:3000"}
	})
	tests := []struct {
		name   string
		method string
		set    func(*http.Request)
		status int
	}{
		{"typed address", "GET", with("Sec-Fetch-Site", "none"), 200},
		{"own page", "POST", with("Origin", "http://"+p.addr), 200},
		{"own page, told twice", "POST", func(r *http.Request) {
			r.Header.Set("Origin", "http://"+p.addr)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, 200},
		{"a link on another page", "GET", with("Sec-Fetch-Site", "cross-site"), 403},
		{"a page on another port", "GET", with("Sec-Fetch-Site", "same-site"), 403},
		{"origin of another port", "POST", with("Origin", "http://127.0.0.1:1"), 403},
		{"origin that may call the API", "POST", with("Origin", "http://localhost:3000"), 403},
		{"own origin by another scheme", "POST", with("Origin", "https://"+p.addr), 403},
		{"origin null", "POST", with("Origin", "null"), 403},
		{"two origins", "POST", func(r *http.Request) { r.Header["Origin"] = []string{"http://" + p.addr, "http://" + p.addr} }, 403},
		{"foreign name, same in both", "POST", func(r *http.Request) {
			r.Host = "evil.example"
			r.Header.Set("Origin", "http://evil.example")
		}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+p.addr+"/dashboard/", nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.set(req)
			resp, err := p.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if allow := resp.Header.Get("Access-Control-Allow-Origin"); allow != "" {
				t.Errorf("another page may read the answer: %q", allow)
			}
		})
	}
}

// A page that is open does not hold up the end of the server.
func TestStopDoesNotWaitForPages(t *testing.T) {
	ended := make(chan error, 1)
	p := serve(t, hello(), func(cfg *Config) { cfg.Pages, cfg.Grace = pagesOf(ended), time.Minute })
	resp, err := p.client.Get("http://" + p.addr + "/dashboard/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	start := time.Now()
	p.close()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("stopping took %v", took)
	}
	if err := <-ended; err == nil {
		t.Error("the stream was not ended")
	}
}

func TestDashboardWithoutASlash(t *testing.T) {
	p := serve(t, hello(), func(cfg *Config) { cfg.Pages = pagesOf(nil) })
	resp, err := p.client.Get("http://" + p.addr + "/dashboard")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusPermanentRedirect || resp.Header.Get("Location") != "/dashboard/" {
		t.Errorf("status %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
}
