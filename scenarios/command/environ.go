package command

import (
	"slices"
	"strings"
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
// Env comes on top. It is not written down in an archive, for it may hold secrets; only HOME is, where places outside
// of the directory are shared, and a HOME in Env is not replaced. Dir must be known: an interpreter behind a shim (of
// pyenv, rbenv, nodenv, goenv, plenv, asdf) is the one that the shim would choose there.
func (s *Spec) Inherit(environ []string) {
	s.inherited = nil
	for _, e := range s.Direct(environ) {
		name, _, _ := strings.Cut(e, "=")
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
