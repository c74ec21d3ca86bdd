package command

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lockpick/scenarios"
)

// leftOut are variables that differ from run to run, or lead a program to what does, such as a display or an agent; a
// name that ends in * stands for all that begin so.
var leftOut = []string{
	"_", "PWD", "OLDPWD", "SHLVL", "TERM", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "DISPLAY", "WAYLAND_DISPLAY",
	"XAUTHORITY",
	"DBUS_*", "SSH_*", "GPG_*", "TMUX*", "STY", "XDG_SESSION_*", "INVOCATION_ID", "JOURNAL_STREAM", "MANAGERPID",
	"SYSTEMD_*", "LD_*",
	"MALLOC_*", "GLIBC_TUNABLES", "PYTHONHASHSEED", "PERL_HASH_SEED", "GODEBUG", "GOMAXPROCS", "GOCOVERDIR", "LOCKPICK_*",
}

// LeftOut tells which variables [Spec.Inherit] leaves out, as a list with commas in lines of so many columns.
func LeftOut(columns int) string {
	var b strings.Builder
	at := 0
	for i, name := range leftOut {
		between := ", "
		switch {
		case i == 0:
			between = ""
		case at+len(name)+3 > columns:
			between, at = ",\n", -2
		}
		b.WriteString(between + name)
		at += len(name) + 2
	}
	return b.String()
}

// Inherit gives the commands the environment of a caller, as os.Environ lists it, without what makes executions differ.
// Env comes on top. LANG=C.UTF-8 is left out as well: LC_CTYPE says the same, and with LANG each program reads a dozen
// files more. It is not written down in an archive, for it may hold secrets; only HOME is, where places outside
// of the directory are shared, and a HOME in Env is not replaced. Dir must be known: an interpreter behind a shim (of
// pyenv, rbenv, nodenv, goenv, plenv, asdf) is the one that the shim would choose there.
func (s *Spec) Inherit(environ []string) {
	s.inherited = nil
	_, languages := lookup(environ, "LANGUAGE") // which says nothing without LANG
	for _, e := range s.Direct(environ) {
		name, value, _ := strings.Cut(e, "=")
		if name == "LANG" && (value == "C.UTF-8" || value == "C.utf8") && !languages {
			continue
		}
		if !slices.ContainsFunc(leftOut, func(out string) bool {
			begin, all := strings.CutSuffix(out, "*")
			return name == out || all && strings.HasPrefix(name, begin)
		}) {
			s.inherited = append(s.inherited, e)
		}
	}
}

// Direct is an environment in which interpreters stand before the shims that would execute them.
func (s *Spec) Direct(environ []string) []string {
	var path string
	if path, s.direct = throughShims(environ, s.Dir); len(s.direct) == 0 {
		return environ
	}
	environ = slices.DeleteFunc(slices.Clone(environ), func(e string) bool { return strings.HasPrefix(e, "PATH=") })
	return append(environ, "PATH="+path)
}

// env is what the commands see beside the fixed environment.
func (s *Spec) env() []string { return slices.Concat(s.inherited, s.Env) }

// envToKeep is what an archive says of the environment.
func (s *Spec) envToKeep() []string {
	isHome := func(e string) bool { return strings.HasPrefix(e, "HOME=") }
	if i := slices.IndexFunc(s.inherited, isHome); i >= 0 && len(s.Outside) > 0 && !slices.ContainsFunc(s.Env, isHome) {
		return append([]string{s.inherited[i]}, s.Env...)
	}
	return s.Env
}

// A shim stands in PATH in place of an interpreter: a script that looks for the version that is wanted, with hundreds
// of calls and a dozen processes, and executes it. Which version that is hangs on files that no command writes. So
// the programs of that version come first in PATH, where the shim would put them itself.

// shimOf finds in the text of a shim who made it: a program of the family of rbenv, or asdf.
var shimOf = regexp.MustCompile(`(?m)^exec "?(?:[^"\s]*/)?(pyenv|rbenv|nodenv|goenv|plenv|asdf)"? exec `)

// versionFiles names the files that say which version a directory wants. That of asdf has one line for each tool.
var versionFiles = map[string]string{"pyenv": ".python-version", "rbenv": ".ruby-version", "nodenv": ".node-version",
	"goenv": ".go-version", "plenv": ".perl-version", "asdf": ".tool-versions"}

// throughShims is a PATH in which the programs that shims would execute in dir stand before the shims, and the
// directories of these programs. An unclear version leaves a shim as it is.
func throughShims(environ []string, dir string) (path string, direct []string) {
	var out []string
	path, _ = lookup(environ, "PATH")
	for _, p := range filepath.SplitList(path) {
		if filepath.Base(p) == "shims" && !slices.Contains(out, p) {
			bins := behind(environ, p, dir)
			direct, out = append(direct, bins...), append(out, bins...)
		}
		out = append(out, p)
	}
	return strings.Join(out, string(filepath.ListSeparator)), direct
}

// behind lists where the programs are that the shims of a directory execute.
func behind(environ []string, shims, dir string) []string {
	entries, _ := os.ReadDir(shims)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(shims, e.Name()))
		if m := shimOf.FindSubmatch(text); err == nil && m != nil {
			if string(m[1]) == "asdf" {
				return asdf(environ, filepath.Dir(shims), dir)
			}
			return versioned(environ, string(m[1]), filepath.Dir(shims), dir)
		}
	}
	return nil
}

// versioned is for the family of rbenv: a variable names the versions, or a file in a directory above, or one for all.
func versioned(environ []string, manager, root, dir string) (bins []string) {
	text, ok := lookup(environ, strings.ToUpper(manager)+"_VERSION")
	if !ok || text == "" {
		text = nearest(versionFiles[manager], dir)
	}
	if text == "" {
		all, _ := os.ReadFile(filepath.Join(root, "version"))
		text = string(all)
	}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, v := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(": \t\r\n", r) }) {
			bins = append(bins, filepath.Join(root, "versions", v, "bin"))
		}
	}
	return present(bins)
}

// asdf has the nearest .tool-versions, or that at home, say which version of each tool is wanted.
func asdf(environ []string, root, dir string) (bins []string) {
	text := nearest(versionFiles["asdf"], dir)
	if home, ok := lookup(environ, "HOME"); ok && text == "" {
		text = nearest(versionFiles["asdf"], home)
	}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		if v, ok := lookup(environ, "ASDF_"+strings.ToUpper(words[0])+"_VERSION"); ok {
			words[1] = v
		}
		bins = append(bins, present([]string{filepath.Join(root, "installs", words[0], words[1], "bin")})...)
	}
	return bins
}

// nearest is the text of the file of that name in a directory or in the nearest one above it; "" for none.
func nearest(name, dir string) string {
	for {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			return string(text)
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// present are the directories if all are there. "system", or a part of a version's name, is none.
func present(dirs []string) []string {
	for _, d := range dirs {
		if info, err := os.Stat(d); err != nil || !info.IsDir() {
			return nil
		}
	}
	return dirs
}

// assumesShims says which programs ran in place of shims.
func (s *Spec) assumesShims() []scenarios.Premise {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	dirs := map[string]bool{}
	for _, d := range s.direct {
		real, err := filepath.EvalSymlinks(d)
		dirs[d] = err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(s.record.programsRun)),
			func(p string) bool { return filepath.Dir(p) == real })
	}
	if maps.DeleteFunc(dirs, func(_ string, ran bool) bool { return !ran }); len(dirs) == 0 {
		return nil
	}
	return []scenarios.Premise{{Code: "shims-passed-over",
		Text: "shims in PATH are passed over, and the programs that they " +
			"choose run at once: those in " + listed(dirs)}}
}

// lookup is the value of a variable.
func lookup(environ []string, name string) (value string, ok bool) {
	for _, e := range environ {
		if v, is := strings.CutPrefix(e, name+"="); is {
			value, ok = v, true
		}
	}
	return value, ok
}
