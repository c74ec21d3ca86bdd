package cli

import (
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"lockpick/checker/report"
	"lockpick/internal/lists"
)

// programText is how a reader calls the program that runs now, for the commands that are
// printed: as it was typed, or, when the Go command has built it to run it once, by that.
func programText(typed string, build *debug.BuildInfo) string {
	if typed == "" {
		return "lockpick"
	}
	if runByGo(typed) {
		if build == nil || build.Path == "" || build.Path == "command-line-arguments" {
			return "go run ."
		}
		return "go run " + report.ShellWord(build.Path)
	}
	return report.ShellWord(typed)
}

// cached is the end of a name in Go's build cache, whose directory may be called anything: since
// Go 1.24 it keeps what "go run" has built.
var cached = regexp.MustCompile(`/([0-9a-f]{2})/([0-9a-f]{64})-d$`)

// runByGo reports whether "go run" has started the program: it lies where the Go command builds
// or keeps what it runs.
func runByGo(typed string) bool {
	dir := filepath.ToSlash(filepath.Dir(typed))
	if strings.Contains(dir, "/go-build") && strings.HasSuffix(dir, "/exe") {
		return true
	}
	at := cached.FindStringSubmatch(dir)
	return at != nil && strings.HasPrefix(at[2], at[1])
}

// versionText says what the program is built of: itself, lockpick, and Go.
func versionText(build *debug.BuildInfo) string {
	if build == nil {
		return "unknown: built without module information"
	}
	const own = "lockpick"
	var words []string
	module := func(m *debug.Module) string {
		v := m.Version
		if m.Replace != nil {
			v += " replaced by " + m.Replace.Path + " " + m.Replace.Version
		}
		return strings.TrimSpace(m.Path + " " + v)
	}
	if build.Main.Path != "" {
		words = append(words, module(&build.Main)+revision(build))
	}
	for _, m := range build.Deps {
		if m.Path == own {
			words = append(words, module(m))
		}
	}
	return strings.Join(append(words, build.GoVersion), ", ")
}

// made says how what is written came about.
func (a *app) made(date string) report.Made {
	words := []string{a.program}
	words = append(words, lists.Map(a.args, report.ShellWord)...)
	return report.Made{Version: versionText(buildInfo()), Command: strings.Join(words, " "), Date: date}
}

// revision is the commit that the program was built from, when Go recorded it.
func revision(build *debug.BuildInfo) string {
	commit, changed := "", ""
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if commit == "" {
		return ""
	}
	return " (commit " + commit + changed + ")"
}

// buildInfo is what the program is built of, or nil.
func buildInfo() *debug.BuildInfo {
	b, _ := debug.ReadBuildInfo()
	return b
}

// nameOf is the program's name in help texts.
func nameOf(typed string) string {
	name := strings.TrimSuffix(filepath.Base(typed), ".exe")
	if typed == "" || name == "" || strings.ContainsAny(name, " \t\n") {
		return "lockpick"
	}
	return name
}
