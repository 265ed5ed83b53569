package agentcli

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// phrases are the texts by which failures are told apart, collected from the
// CLI's builds and from reports. The first class that fits wins: a spent plan
// also speaks of limits, and a bare [resource_exhausted] may be a passing
// shortage. The bare word "auth" is no phrase, it is in "author".
var phrases = sync.OnceValue(func() []phrase {
	var list []phrase
	add := func(class, pattern string) {
		list = append(list, phrase{class, regexp.MustCompile(`(?i)` + pattern)})
	}
	add(classDevices, `too many computers`)
	add(classQuota, `usage limit|free requests limit|spend limit|upgrade to pro`)
	add(classAuth, `authentication required|not logged in|not authenticated|`+
		"run ['\"`‘“]?(cursor-)?agent login|"+
		`\bunauthorized\b|\[unauthenticated\]|api key is invalid|invalid api key`)
	add(classModel, `cannot use this model|model not found|model name is not valid|invalid model|model (is )?not available`)
	add(classTrust, `workspace trust required`)
	add(classOutdated, `latest version of cursor|unknown option|unknown command`)
	add(classConfigRace, `(ENOENT|EPERM|EBUSY).*cli-config\.json`)
	add(classRateLimit, `rate.?limit|too many requests|\b429\b`)
	add(classOverloaded, `resource_exhausted|overloaded`)
	add(classPromptTooLong, `argument list too long|\bE2BIG\b|ENAMETOOLONG|command line is too long|filename or extension is too long`)
	add(classNetwork, `ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|fetch failed|socket hang up|`+
		`\[unavailable\]|\[deadline_exceeded\]|\[canceled\]|stream closed|`+
		`connection (reset|stalled|closed|lost|failed)|network error`)
	return list
})

type phrase struct {
	class   string
	pattern *regexp.Regexp
}

// classify searches the sources in order for a known phrase and returns its
// class and the text from the line of the phrase on. Without any it returns no
// class and the first text there is.
func classify(sources []string) (class, text string) {
	for _, source := range sources {
		source = strings.TrimSpace(stripANSI(source))
		if text == "" {
			text = source
		}
		for _, p := range phrases() {
			if at := p.pattern.FindStringIndex(source); at != nil {
				return p.class, source[strings.LastIndexByte(source[:at[0]], '\n')+1:]
			}
		}
	}
	return "", text
}

var ansiCodes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)?|\x1b[ -/]*[0-~]`)
})

// stripANSI removes the colour and cursor codes that the CLI writes even where
// there is no terminal.
func stripANSI(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return ansiCodes().ReplaceAllString(text, "")
}

// usableModels reads the ids that the CLI names when it refuses one.
func usableModels(text string) []string {
	_, list, ok := strings.Cut(text, "Available models:")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(strings.TrimSpace(list), "\n")
	var ids []string
	for id := range strings.SplitSeq(list, ",") {
		if id = strings.TrimSpace(id); modelID().MatchString(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

var modelID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/=\[\]-]{0,99}$`)
})

var retryPhrase = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:retry|try again)[- ](?:after|in):?\s+(\d{1,6})\s*(s|m|h)?`)
})

// retryHint reads a wait such as "try again in 30 seconds"; 0 is none.
func retryHint(text string) time.Duration {
	m := retryPhrase().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	unit := time.Second
	switch strings.ToLower(m[2]) {
	case "m":
		unit = time.Minute
	case "h":
		unit = time.Hour
	}
	return time.Duration(n) * unit
}

// redaction is what must not appear in a message.
type redaction struct {
	home    string   // becomes "~"
	secrets []string // keys and tokens that this program knows
}

const maxReason = 500 // bytes of the CLI's own text in a message

// apply masks and shortens the CLI's words.
func (r redaction) apply(text string) string {
	for _, secret := range r.secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	if len(r.home) > 1 {
		text = strings.ReplaceAll(text, r.home, "~")
	}
	for _, m := range masks() {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return clip(strings.Join(strings.Fields(text), " "), maxReason)
}

type mask struct {
	pattern *regexp.Regexp
	with    string
}

// masks are the shapes of secrets and of home folders.
var masks = sync.OnceValue(func() []mask {
	return []mask{
		{regexp.MustCompile(`(?i)\b(bearer)\s+[A-Za-z0-9._~+/=-]+`), "$1 ***"},
		{regexp.MustCompile(`(?i)\b([a-z_-]*(?:token|api[-_ ]?key|authorization|password|secret))(["']?\s*[:=]\s*["']?)[^\s"',;]{4,}`), "$1$2***"},
		{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*`), "***"},
		{regexp.MustCompile(`\b(?:key|crsr|cur|sk|pk|ghp|gho|ghs)[-_][A-Za-z0-9_-]{12,}`), "***"},
		{regexp.MustCompile(`\b[A-Za-z0-9_-]{40,}`), "***"},
		{regexp.MustCompile(`://[^\s/@]+@`), "://***@"},
		{regexp.MustCompile(`(?:/home/|/Users/)[^/\s'":]+|/root\b|(?i:\b[a-z]:\\Users\\)[^\\\s'":]+`), "~"},
	}
})

// clip shortens a text to at most max bytes, at the border of a character.
func clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	const more = "…"
	cut := max - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}
