package main

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package of more files or lines than this, tests not counted, is one that nobody reads.
const (
	mostFiles = 20
	mostLines = 3000
)

// eachSource hands out the Go files of the module, without its tests and what .ci runs.
func eachSource(t *testing.T, see func(name string, text []byte)) {
	t.Helper()
	root := os.DirFS("../..")
	require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() && (d.Name() == "testdata" || len(name) > 1 && name[0] == '.') { // as go does
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			text, err := fs.ReadFile(root, name)
			require.NoError(t, err)
			see(name, text)
		}
		return nil
	}))
}

// Packages are small, or ARCHITECTURE.md says in "Large rooms" why one is not.
func TestRoomsAreSmall(t *testing.T) {
	files, lines := map[string]int{}, map[string]int{}
	eachSource(t, func(name string, text []byte) {
		files[path.Dir(name)]++
		lines[path.Dir(name)] += bytes.Count(text, []byte("\n"))
	})
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## Large rooms\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	excused := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: ").FindAllStringSubmatch(section, -1) {
		excused[m[1]] = true
	}
	for name, n := range files {
		large := n > mostFiles || lines[name] > mostLines
		require.Equal(t, large, excused[name],
			"%s has %d files and %d lines, tests not counted: divide it, or say in ARCHITECTURE.md, Large rooms, why it is one; and take out of there what is small", name, n, lines[name])
		delete(excused, name)
	}
	require.Empty(t, excused, "there are no such packages")
}

// The top directory holds what ARCHITECTURE.md describes. What a command that was tried by hand
// leaves there must not be committed.
func TestNothingIsLeftInTheTopDirectory(t *testing.T) {
	entries, err := os.ReadDir("../..")
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	require.Subset(t, []string{
		"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "bin", "checker", "cmd", "docs",
		"fsfake", "go.mod", "go.sum", "internal", "lockpick", "model", "scenarios", "sched", "site",
	}, names, "remove it, or add it to this list")
}
