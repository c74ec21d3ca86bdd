package cli

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
)

func TestProgramText(t *testing.T) {
	build := &debug.BuildInfo{Path: "example.com/seat/cmd/locks"}
	for typed, want := range map[string]string{
		"":                                     "lockpick",
		"lockpick":                             "lockpick",
		"./mylocks":                            "./mylocks",
		"/opt/my locks/go":                     "'/opt/my locks/go'",
		"/tmp/go-build123/b001/exe/seat":       "go run example.com/seat/cmd/locks",
		"/root/.cache/go-build/ab/cd-d/seat":   "/root/.cache/go-build/ab/cd-d/seat",
		"/tmp/go-build123/b001/exe/with space": "go run example.com/seat/cmd/locks",
	} {
		require.Equal(t, want, programText(typed, build), typed)
	}
	kept := "/home/me/.cache/go-build/5b/5bc5d73b63d17e994f9bbf503eacbf61fd19a8158562c6b11b52325a5bf19a79-d/main"
	require.Equal(t, "go run .", programText(kept, nil))
	require.Equal(t, "go run .", programText(strings.Replace(kept, "/home/me/.cache/go-build", "/tmp/other", 1), nil))
	other := strings.Replace(kept, "/5b/", "/5c/", 1)
	require.Equal(t, other, programText(other, nil))
	require.Equal(t, "go run .", programText("/tmp/go-build1/b001/exe/main", &debug.BuildInfo{Path: "command-line-arguments"}))
	require.Equal(t, "go run .", programText("/tmp/go-build1/b001/exe/main", nil))

	require.Equal(t, "mylocks", nameOf("./mylocks"))
	require.Equal(t, "mylocks", nameOf("mylocks.exe"))
	require.Equal(t, "lockpick", nameOf("/opt/my locks"))
	require.Equal(t, "lockpick", nameOf(""))
}

// A program of somebody's own prints commands that work for it.
func TestOwnProgram(t *testing.T) {
	fixtures.OnlyAnswers(t)
	var out, errs strings.Builder
	a := &app{scenarios: toys.All(), stdout: &out, stderr: &errs, env: func(string) string { return "" }, name: "mylocks", program: "./mylocks"}
	require.Zero(t, a.run(t.Context(), []string{"explain", "toy/look/contend"}))
	require.Contains(t, out.String(), "\n  replay  ./mylocks replay toy/look/contend 'A1 B4 A3'\n")
	out.Reset()
	require.Zero(t, a.run(t.Context(), []string{"help"}))
	require.Contains(t, out.String(), "  mylocks [command]\n")
	require.Equal(t, ExitUsage, a.run(t.Context(), []string{"check", "nosuch"}))
	require.Contains(t, errs.String(), `mylocks: no scenario matches "nosuch": "mylocks list '*'" shows them all`)
}

func TestVersion(t *testing.T) {
	got := run(t, "--version")
	require.Zero(t, got.exit)
	require.Regexp(t, `^lockpick .*go1\.\d+.*\n$`, got.stdout)
	require.Equal(t, "example.com/seat v1.2.3 (commit 0123456789ab with changes), lockpick v0.9.0 replaced by ../lockpick, go1.26.0", versionText(&debug.BuildInfo{
		GoVersion: "go1.26.0", Main: debug.Module{Path: "example.com/seat", Version: "v1.2.3"},
		Deps:     []*debug.Module{{Path: "lockpick", Version: "v0.9.0", Replace: &debug.Module{Path: "../lockpick"}}, {Path: "other", Version: "v1.0.0"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}},
	}))
	require.Equal(t, "unknown: built without module information", versionText(nil))
}
