package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// form is a press of a button.
type form struct {
	ctx    context.Context
	values url.Values
	shown  revealed // what the answer may show
}

func (f *form) arg() string { return f.values.Get("arg") }

var (
	errNotHere   = errors.New("this cursortray runs without that")
	errNoSuch    = errors.New("there is no such button")
	errNoKey     = errors.New("enter the API key first")
	errNoSetting = errors.New("there is no such setting")
)

// simple are the actions of the App that need nothing but their name.
var simple = map[string]app.Action{
	"start":          app.StartProxy{},
	"recheck":        app.Recheck{},
	"refresh":        app.Refresh{},
	"sign-in":        app.SignIn{},
	"cancel-sign-in": app.CancelSignIn{},
	"login-page":     app.OpenLoginPage{},
	"sign-out":       app.SignOut{},
	"allow-hour":     app.AllowSpending{For: time.Hour},
	"hold-limits":    app.AllowSpending{},
	"open-settings":  app.OpenSettingsFile{},
	"copy-url":       app.CopyBaseURL{},
	"copy-key":       app.CopyKey{},
	"record":         app.RecordNext{},
	"cancel-record":  app.CancelRecord{},
	"open-log":       app.OpenLogFile{},
	"autostart-on":   app.SetAutostart{On: true},
	"autostart-off":  app.SetAutostart{},
}

// do does what a form asks for. The text says what was done, "" if the App's own
// notice will.
func (d *Dashboard) do(f *form) (text string, err error) {
	name := f.values.Get("action")
	if action, ok := simple[name]; ok {
		d.cfg.App.Do(action)
		return "", nil
	}
	switch name {
	case "backend":
		d.cfg.App.Do(app.ChooseBackend{Setting: f.arg()})
		return "", nil
	case "login-key":
		return "", d.logInWithKey(f)
	case "choose-model":
		d.cfg.App.Do(app.ChooseModel{ID: f.arg()})
		return "", nil
	case "copy-model":
		d.cfg.App.Do(app.CopyModel{ID: f.arg()})
		return "", nil
	case "examine":
		return d.examine(f)
	case "set":
		return d.set(f)
	case "show-key":
		return d.showKey(f)
	case "show-text":
		f.shown.editor = f.arg()
		return "", nil
	case "set-up-editor":
		d.cfg.App.Do(app.SetUpEditor{ID: f.arg()})
		return "", nil
	case "undo-editor":
		d.cfg.App.Do(app.UndoEditor{ID: f.arg()})
		return "", nil
	case "switch-editor-off", "switch-editor-on":
		d.cfg.App.Do(app.SwitchEditor{ID: f.arg(), Off: name == "switch-editor-off"})
		return "", nil
	}
	return "", errNoSuch
}

// logInWithKey leaves it to the state of the account to tell why a login failed:
// said here as well it would be on the page twice.
func (d *Dashboard) logInWithKey(f *form) error {
	key := strings.TrimSpace(f.values.Get("value"))
	if key == "" {
		return errNoKey
	}
	err := d.cfg.App.LoginWithKey(f.ctx, key)
	if err != nil && d.cfg.App.Snapshot().Account.State != app.NoAccount {
		return nil
	}
	return err
}

func (d *Dashboard) showKey(f *form) (string, error) {
	if d.cfg.Keys == nil {
		return "", errNotHere
	}
	key, err := d.cfg.Keys.Key(f.ctx)
	f.shown.key = key
	return "", err
}

// set changes one setting. What the App itself can change takes effect at once.
func (d *Dashboard) set(f *form) (string, error) {
	key, value := f.values.Get("key"), f.values.Get("value")
	if d.cfg.Settings == nil {
		return "", errNotHere
	}
	var row *Setting
	for _, s := range d.cfg.Settings.List() {
		if s.Key == key {
			row = &s
		}
	}
	if row == nil {
		return "", errNoSetting
	}
	if kindOfSetting(*row) == "switch" && value == "" {
		value = "false" // a box that is not checked is not sent
	}
	if key == "notifications" {
		value = strings.Join(f.values["value"], ",") // a box for each kind
	}
	if key == "default_model" { // which the App looks up before it saves it
		d.cfg.App.Do(app.ChooseModel{ID: strings.TrimSpace(value)})
		return "", nil
	}
	if err := d.cfg.Settings.Set(key, value); err != nil {
		return "", err
	}
	switch {
	case key == "backend" && !d.cfg.App.Snapshot().Backend.Fixed:
		d.cfg.App.Do(app.ChooseBackend{Setting: value})
		return "Saved. New conversations take this way.", nil
	case key == "start_proxy":
		d.cfg.App.Do(app.SetStartProxy{On: value == "true"})
		return "Saved.", nil
	case key == "notifications":
		d.cfg.App.Do(app.ChooseNotifications{Kinds: value})
		return "Saved. It holds from now on.", nil
	}
	return "Saved. It takes effect when cursortray starts again.", nil
}

// outcome is the answer to the script.
type outcome struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
	Parts  []part `json:"parts"` // the page as it is now
}

// act answers a press of a button: the script with the parts of the page, a
// browser without it with the page itself.
func (d *Dashboard) act(w http.ResponseWriter, r *http.Request, s *session) {
	f := &form{ctx: r.Context(), values: r.PostForm}
	p := d.page(f.values.Get("page"))
	if p == nil {
		p = d.pages[0]
	}
	before := d.cfg.App.Snapshot()
	text, err := d.do(f)
	result := flash{Text: text}
	if err != nil {
		result = flash{Text: sentence(message(err)), Failed: true}
	}
	query, queryErr := url.ParseQuery(f.values.Get("query"))
	if queryErr != nil {
		query = url.Values{}
	}
	v := d.visit(r)
	v.query, v.revealed = query, f.shown
	if r.Header.Get("X-Requested-With") != "script" {
		if result.Text != "" {
			d.doors.leave(s, &result)
		} else if f.shown == (revealed{}) {
			d.settle(r.Context(), before)
		}
		if f.shown != (revealed{}) { // a redirect would lose what is to be shown
			d.writePage(w, p, s, v)
			return
		}
		target := p.path()
		if text := query.Encode(); text != "" {
			target += "?" + text
		}
		http.Redirect(w, r, target, http.StatusSeeOther)
		return
	}
	parts, err := d.parts(p, s, v)
	if err != nil {
		d.broken(w, err)
		return
	}
	writeJSON(w, outcome{result.Text, result.Failed, parts})
}

// settleTime is how long a browser without the script waits to see what came of
// a button.
const settleTime = time.Second

// settle waits for a state after the one before.
func (d *Dashboard) settle(ctx context.Context, before app.Snapshot) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	watch := d.cfg.App.Watch(ctx)
	for {
		select {
		case snap, open := <-watch:
			if !open || snap != before {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// message is what a person is told of an error.
func message(err error) string {
	var told *chat.Error
	if errors.As(err, &told) {
		return told.Message
	}
	return err.Error()
}
