package cursor

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Hosts says where Cursor is.
type Hosts struct {
	api, website string // origins, perhaps with a path in front of ours
}

const (
	defaultAPI     = "https://api2.cursor.sh"
	defaultWebsite = "https://cursor.com"
)

// ParseHosts takes the values of CURSOR_API_BASE_URL and CURSOR_WEBSITE_URL;
// "" stands for Cursor's own. Both have to be https.
func ParseHosts(api, website string) (Hosts, error) {
	var h Hosts
	var err error
	if h.api, err = parseBase(api, defaultAPI); err != nil {
		return Hosts{}, fmt.Errorf("CURSOR_API_BASE_URL: %w", err)
	}
	if h.website, err = parseBase(website, defaultWebsite); err != nil {
		return Hosts{}, fmt.Errorf("CURSOR_WEBSITE_URL: %w", err)
	}
	return h, nil
}

// API returns the base of Cursor's API, without a slash at its end.
func (h Hosts) API() string {
	if h.api == "" {
		return defaultAPI
	}
	return h.api
}

// Website returns the base of Cursor's pages for people, without a slash at
// its end.
func (h Hosts) Website() string {
	if h.website == "" {
		return defaultWebsite
	}
	return h.website
}

func parseBase(text, fallback string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return fallback, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "", errors.New("it is no URL such as https://host")
	case u.Scheme != "https":
		return "", errors.New("it has to begin with https://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("it may have a host and a path only")
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.Path, "/"), nil
}

// cursorHost matches Cursor's own domain by whole labels, with all its
// regional names. It leaves no room for user names, look-alikes, addresses or
// a dot at the end.
var cursorHost = pattern(`^([a-z0-9-]+\.)+cursor\.sh$`)

// ParseAgentURL returns the origin in an agent URL that the server named or
// the user set. Only https and Cursor's own domain are taken, because the
// origin will get the access token; there is no other host to fall back to.
func ParseAgentURL(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", errors.New("no agent host is named")
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("the agent host is no URL")
	case u.Scheme != "https":
		return "", errors.New("the agent host is not https")
	case u.User != nil:
		return "", errors.New("the agent host has a user name")
	case !cursorHost().MatchString(strings.ToLower(u.Hostname())):
		return "", fmt.Errorf("the agent host %q is not below cursor.sh", u.Hostname())
	}
	return "https://" + strings.ToLower(u.Host), nil
}

// mayHaveToken says whether a call to u may carry the access token.
func (h Hosts) mayHaveToken(u *url.URL) bool {
	if u.Scheme != "https" || u.User != nil {
		return false
	}
	api, err := url.Parse(h.API())
	return err == nil && strings.EqualFold(u.Host, api.Host) || cursorHost().MatchString(strings.ToLower(u.Hostname()))
}
