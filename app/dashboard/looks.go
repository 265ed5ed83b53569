package dashboard

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"cursortray/app"
)

// looks is the set of templates.
type looks struct{ set *template.Template }

func parseLooks() (*looks, error) {
	set, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"tokens":   func(n int) string { return app.TokenCount(n) },
		"tokens64": func(n int64) string { return app.TokenCount(int(n)) },
		"clock":    clock,
		"machine":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"ago":      ago,
		"took":     took,
		"dollars":  dollars,
		"carry":    func(f frame, first string, of any) carried { return carried{f, first, of} },
	}).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("read the dashboard's templates: %w", err)
	}
	return &looks{set}, nil
}

// carried takes the frame along to a template that is about something smaller.
type carried struct {
	Frame frame
	First string // class of the first button, or a title
	Of    any
}

func (l *looks) render(name string, data any) (template.HTML, error) {
	var out bytes.Buffer
	if err := l.set.ExecuteTemplate(&out, name, data); err != nil {
		return "", err
	}
	return template.HTML(out.String()), nil
}

// write answers with a page that needs no data that could be missing.
func (l *looks) write(w http.ResponseWriter, status int, name string, data any) {
	html, err := l.render(name, data)
	if err != nil {
		http.Error(w, "This page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(html)) // a failed write means that the browser has left
}

// clock is a time of day, with the date unless that is today's.
func clock(now, t time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}

// ago is an age in words.
func ago(now, t time.Time) string {
	switch age := now.Sub(t); {
	case age < time.Minute:
		return "just now"
	case age < time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(age.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(age.Hours()/24))
	}
}

// took is a duration for people.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}
