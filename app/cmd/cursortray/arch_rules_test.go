package main

// The rules that arch_test.go enforces, as data. A new package, dependency or
// exception is added here, together with the reason for it.

const module = "cursortray"

// anything marks the one package that may import every other.
const anything = "*"

// mayImport lists, per package, which of our packages its code may import.
// Front-ends and back-ends meet in proxy/chat only, so that N dialects and M
// ways to reach a model need N + M translators. A package that is not listed
// fails the test.
var mayImport = map[string][]string{
	"app/cmd/cursortray": {anything},
	// A problem in a Snapshot is a *chat.Error; its kind decides the heading.
	"tray": {"app", "app/sessionbus", "assets", "proxy/chat", "proxy/choice", "proxy/cursor"},
	// The choice of the back-end is shown, and made, like everything else.
	"app":          {"app/config", "app/autostart", "keychain", "proxy", "proxy/chat", "proxy/choice", "proxy/cursor", "proxy/ledger", "proxy/money", "proxy/spend"},
	"app/control":  {"app", "app/config", "proxy/chat", "proxy/cursor"},
	"app/localkey": {"keychain", "proxy/chat"},
	// It shows problems, sums and amounts as they come.
	"app/dashboard": {"app", "assets", "proxy/chat", "proxy/ledger", "proxy/money"},
	// Editing the text of a file is the same for our settings and for those of
	// editors.
	"app/atomicfile": {},
	"app/confedit":   {},
	"app/editors":    {"app/atomicfile", "app/confedit"},
	// Keys, models and files together; the App asks for it by an interface.
	"app/editorsetup": {"app", "app/editors", "proxy/chat"},
	"app/config":      {"app/atomicfile", "app/confedit", "proxy/money"},
	"app/autostart":   {"app/atomicfile"},
	"app/logfile":     {},
	"app/recording":   {"proxy/chat"},
	"app/notify":      {"app", "app/sessionbus", "proxy/chat"},
	"app/sessionbus":  {},
	"app/e2e":         {},
	// Its bare server decodes what the simulated Cursor sends.
	"app/bench":     {"proxy/cursor/cursorpb", "proxy/cursor/cursorsim/simserver"},
	"assets":        {},
	"assets/draw":   {},
	"tray/traytest": {},
	"keychain":      {},

	"proxy":               {"proxy/chat", "proxy/openai", "proxy/anthropic", "proxy/modellist", "proxy/turn"},
	"proxy/chat":          {},
	"proxy/chat/chattest": {"proxy/chat"},
	// What both back-ends do about the names, arguments and loops of calls.
	"proxy/chat/clienttool": {"proxy/chat"},
	"proxy/sse":             {},
	// What is the same in all dialects: how JSON is read and written, and what
	// is done around a turn. Front-ends share it instead of each other.
	"proxy/wirejson":   {"proxy/chat"},
	"proxy/turn":       {"proxy/chat", "proxy/sse", "proxy/wirejson"},
	"proxy/tokencount": {"proxy/chat", "proxy/wirejson"},
	"proxy/openai":     {"proxy/chat", "proxy/turn", "proxy/tokencount", "proxy/wirejson"},
	"proxy/anthropic":  {"proxy/chat", "proxy/turn", "proxy/tokencount", "proxy/wirejson"},
	"proxy/modellist":  {"proxy/chat", "proxy/turn"},
	// Exact amounts, for prices, for the ledger and for limits.
	"proxy/money":           {},
	"proxy/ledger":          {"proxy/money"},
	"proxy/spend":           {"proxy/chat", "proxy/money"},
	"proxy/choice":          {"proxy/chat"},
	"proxy/cursor":          {"proxy/chat", "proxy/cursor/cursorpb", "proxy/money"},
	"proxy/cursor/cursorpb": {},
	// Writes the generated code of cursorpb; no part of the program.
	"proxy/cursor/cursorpb/generate":          {},
	"proxy/cursor/agentrpc":                   {"proxy/chat", "proxy/chat/clienttool", "proxy/cursor", "proxy/cursor/cursorpb"},
	"proxy/cursor/agentcli":                   {"proxy/chat", "proxy/chat/clienttool", "proxy/cursor"},
	"proxy/cursor/cursorsim":                  {},
	"proxy/cursor/cursorsim/agentsim":         {"proxy/cursor/cursorsim"},
	"proxy/cursor/cursorsim/cmd/cursor-agent": {"proxy/cursor/cursorsim/agentsim"},
	// The far side of the wire shares the messages with the client, and nothing
	// else; what the simulated model says comes from cursorsim.
	"proxy/cursor/cursorsim/simserver":     {"proxy/cursor/cursorsim", "proxy/cursor/cursorpb"},
	"proxy/cursor/cursorsim/cmd/cursorsim": {"proxy/cursor/cursorsim/simserver"},
	"proxy/cursor/cursorsim/browsertest":   {},
}

// testsMayImport lists what test files may import beyond what their package
// may: the fakes, the event-stream reader and the vocabulary.
var testsMayImport = []string{
	"proxy/chat",
	"proxy/chat/chattest",
	"proxy/sse",
	"tray/traytest",
	"proxy/cursor/cursorsim",
	"proxy/cursor/cursorsim/agentsim",
	"proxy/cursor/cursorsim/browsertest",
	"proxy/cursor/cursorsim/simserver",
}

// usedBy lists, per third-party module, the packages whose code may import it:
// one, or the reason why there are more.
var usedBy = map[string][]string{
	// Cursor's messages and calls, and the packages that speak them.
	"connectrpc.com/connect":     {"proxy/cursor/agentrpc", "proxy/cursor/cursorpb", "proxy/cursor/cursorsim/simserver"},
	"google.golang.org/protobuf": {"proxy/cursor/agentrpc", "proxy/cursor/cursorpb", "proxy/cursor/cursorpb/generate", "proxy/cursor/cursorsim/simserver"},
	// Compiles the .proto files, in pure Go.
	"github.com/bufbuild/protocompile": {"proxy/cursor/cursorpb/generate"},
	"fyne.io/systray":                  {"tray"},
	"github.com/alecthomas/kong":       {"app/cmd/cursortray"},
	"github.com/atotto/clipboard":      {"app/cmd/cursortray"},
	// The session bus, and what is said over it: the icon, the notifications.
	"github.com/godbus/dbus/v5": {"app/notify", "app/sessionbus", "tray"},
	// Files that only one process may hold: the instance, the key file, the
	// renewal of the login.
	"github.com/gofrs/flock": {"app/control", "keychain", "proxy/cursor"},
	"github.com/gorilla/mux": {"proxy"},
	// Reads the settings file, and finds what to edit in it and in editors' files.
	"github.com/pelletier/go-toml/v2": {"app/config", "app/confedit"},
	"github.com/pkg/browser":          {"app/cmd/cursortray"},
	"github.com/tailscale/hujson":     {"app/confedit"},
	// The vocabulary for counting tokens, inside the program (4 MB of it), MIT.
	"github.com/tiktoken-go/tokenizer": {"proxy/tokencount"},
	"github.com/zalando/go-keyring":    {"keychain"},
	"go.yaml.in/yaml/v3":               {"app/confedit"},
	"golang.org/x/sync":                {},
	// The ledger's file: SQLite in pure Go.
	"modernc.org/sqlite": {"proxy/ledger"},
	// The rest of the system-call interface, in _GOOS files only.
	"golang.org/x/sys": {"app", "app/autostart", "app/control", "app/notify", "keychain", "proxy/cursor", "proxy/cursor/agentcli", "tray"},
}

// usedByTests lists the third-party modules that any test file may import.
var usedByTests = []string{
	"github.com/google/go-cmp",
	"go.uber.org/goleak",
	// Tests of the tray play the desktop's part on a private bus.
	"github.com/godbus/dbus/v5",
}

// emptyNames say nothing about what a package does.
var emptyNames = []string{"util", "utils", "common", "types", "models", "helper", "helpers", "misc", "shared", "base", "lib", "internal"}

// ownContext lists the files outside of main that may call context.Background.
var ownContext = map[string]string{
	"proxy/ledger/writer.go": "what was added is written whoever has left; Close ends it",
}

// asksGOOS lists the files without _GOOS in their name that may read
// runtime.GOOS.
var asksGOOS = map[string]string{
	"app/cmd/cursortray/dashboard.go": "a report names the system",

	"app/e2e/npm_test.go": "the cache of npm packages is per system",
}

// longFiles lists the files that may be longer than maxLines.
var longFiles = map[string]string{}

const maxLines = 500
