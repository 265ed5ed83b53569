package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cursortray/app"
)

// page is one page: a list of parts, each of which is made anew when what it
// shows has changed.
type page struct {
	name, title string
	// parts are names of templates, "PAGE.PART".
	parts []string
	// view is what the templates show.
	view func(*Dashboard, *visit) any
	// opens is what the App is to do when somebody opens the page; nil: nothing.
	opens app.Action
}

func (p *page) path() string { return Root + p.name }

// visit is one making of a page.
type visit struct {
	ctx   context.Context
	snap  app.Snapshot
	query url.Values
	now   time.Time
	// revealed is what the visitor has asked to see, for this answer only.
	revealed revealed
}

// allPages lists the pages in the order of the navigation; the first one is
// where people begin.
func allPages() []*page {
	return []*page{
		overviewPage(), conversationsPage(), modelsPage(), spendPage(), requestsPage(),
		editorsPage(), settingsPage(), diagnosisPage(), startPage(),
	}
}

func pageNames(pages []*page) string {
	var names []string
	for _, p := range pages {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// page finds one by its name; "" is the first.
func (d *Dashboard) page(name string) *page {
	if name == "" {
		return d.pages[0]
	}
	for _, p := range d.pages {
		if p.name == name {
			return p
		}
	}
	return nil
}

// frame is what every template gets.
type frame struct {
	CSRF string
	Page string
	Now  time.Time
	View any
}

// part is a piece of a page as the browser has it.
type part struct {
	ID   string        `json:"id"`
	Rev  string        `json:"rev"` // differs when HTML does
	HTML template.HTML `json:"html"`
}

// parts makes the parts of a page: those that every page has, and its own.
func (d *Dashboard) parts(p *page, s *session, v *visit) ([]part, error) {
	common := frame{CSRF: s.csrf, Page: p.name, Now: v.now, View: barOf(v)}
	own := common
	own.View = p.view(d, v)
	var list []part
	for _, name := range append([]string{"bar.state", "bar.notice"}, p.parts...) {
		data := own
		if strings.HasPrefix(name, "bar.") {
			data = common
		}
		html, err := d.looks.render(name, data)
		if err != nil {
			return nil, err
		}
		list = append(list, part{ID: strings.ReplaceAll(name, ".", "-"), Rev: rev(html), HTML: html})
	}
	return list, nil
}

func rev(html template.HTML) string {
	sum := sha256.Sum256([]byte(html))
	return hex.EncodeToString(sum[:6])
}

// sheet is what the template of whole pages gets.
type sheet struct {
	CSRF    string
	Version string
	Demo    bool
	Page    *sheetLink
	Nav     []*sheetLink
	Bar     []part
	Parts   []part
	Flash   *flash
	Events  string // where the news come from
}

type sheetLink struct {
	Name, Title, Path string
	Current           bool
}

func (d *Dashboard) visit(r *http.Request) *visit {
	return &visit{ctx: r.Context(), snap: d.cfg.App.Snapshot(), query: r.URL.Query(), now: d.cfg.Now()}
}

func (d *Dashboard) showPage(w http.ResponseWriter, r *http.Request, s *session) {
	p := d.page(r.PathValue("page"))
	if p == nil {
		d.looks.write(w, http.StatusNotFound, "missing", nil)
		return
	}
	if p.opens != nil {
		d.cfg.App.Do(p.opens)
	}
	d.writePage(w, p, s, d.visit(r))
}

func (d *Dashboard) writePage(w http.ResponseWriter, p *page, s *session, v *visit) {
	parts, err := d.parts(p, s, v)
	if err != nil {
		d.broken(w, err)
		return
	}
	const bars = 2
	query := v.query
	query.Set("page", p.name)
	view := sheet{
		CSRF: s.csrf, Version: v.snap.Version, Demo: v.snap.Demo, Bar: parts[:bars], Parts: parts[bars:],
		Flash: d.doors.take(s), Events: Root + "events?" + query.Encode(),
	}
	for _, other := range d.pages {
		link := &sheetLink{Name: other.name, Title: other.title, Path: other.path(), Current: other == p}
		if link.Current {
			view.Page = link
		}
		view.Nav = append(view.Nav, link)
	}
	d.looks.write(w, http.StatusOK, "sheet", view)
}

func (d *Dashboard) broken(w http.ResponseWriter, err error) {
	d.cfg.Logger.Error("a page of the dashboard could not be made", "error", err)
	http.Error(w, "This page could not be made; the log says why.", http.StatusInternalServerError)
}
