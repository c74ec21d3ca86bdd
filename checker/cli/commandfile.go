package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// interpreters are programs whose first argument that is no option is a script.
var interpreters = []string{"sh", "bash", "dash", "ksh", "zsh", "python", "python3", "perl", "ruby", "node", "tclsh", "lua"}

// commandPlaces says for each process in which file its command stands: at its line of an archive,
// or in a script, of which no line is known. Zero is none of these.
func commandPlaces(spec *command.Spec, archive, from string) []scenarios.Source {
	out := make([]scenarios.Source, len(spec.Commands))
	if archive != "" {
		text, _ := os.ReadFile(archive)
		name, err := filepath.Abs(archive)
		if err != nil {
			name = archive
		}
		lines, n, in := strings.Split(string(text), "\n"), 0, false
		for i, line := range lines {
			switch {
			case strings.HasPrefix(line, "-- ") && strings.HasSuffix(strings.TrimSpace(line), " --"):
				in = strings.TrimSpace(line) == "-- commands --"
			case in && strings.TrimSpace(line) != "" && n < len(out):
				out[n] = scenarios.Source{File: name, Line: i + 1}
				n++
			}
		}
		return out
	}
	for i, l := range spec.Commands {
		words := l.Argv
		if len(words) == 0 {
			words = strings.Fields(l.Shell)
		}
		if len(words) > 0 && slices.Contains(interpreters, filepath.Base(words[0])) {
			words = slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
		}
		if len(words) > 0 {
			out[i].File = script(words[0], from)
		}
	}
	return out
}

// script is the absolute name of a file of text, relative to a directory; empty when it is none.
func script(name, dir string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	if at, err := os.Stat(name); err != nil || !at.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	begin := make([]byte, 512)
	n, _ := f.Read(begin)
	if slices.Contains(begin[:n], 0) {
		return "" // a binary
	}
	return name
}
