package command_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// What a survey adds to a specification is written into an archive as well.
func TestFormatOfSurveys(t *testing.T) {
	s := command.Spec{
		Commands: []command.Line{{Shell: "sh a"}}, Dir: "/data", Left: true, Living: []int{104, 7},
		Setting: scenarios.Setting{FailingCalls: 1, PowerLosses: 1, Machine: fsfake.Options{Profile: fsfake.XFS}},
		Files: []command.File{{Name: "n", Content: "0\n", Mode: 0o644, Age: time.Hour},
			{Name: "m", Same: "n", Mode: 0o644, Age: time.Hour},
			{Name: "d/", Mode: 0o755, Age: time.Hour, Image: true}, {Name: "e", Link: "n", Mode: 0o777, Image: true}},
	}
	text, err := s.Format()
	require.NoError(t, err)
	got, err := command.Parse(text)
	require.NoError(t, err)
	require.Equal(t, s, got)
	_, err = command.Parse([]byte("-- commands --\nx\n-- setting --\nfile 0644 0s same \"m\" \"n\"\n"))
	require.ErrorContains(t, err, "does not stand above it")
}

// On an overlay, what a killed owner has made lies above the image, and what it has left alone is of the image: a
// directory of it cannot be renamed.
func TestLeftoversOnOverlay(t *testing.T) {
	sc := func(line string) *command.Spec {
		return &command.Spec{Commands: []command.Line{{Shell: line}}, Dir: "/data", Left: true,
			Setting: scenarios.Setting{Machine: fsfake.Options{Profile: fsfake.Overlay}},
			Files:   []command.File{{Name: "old/", Age: time.Hour, Image: true}, {Name: "lock/", Age: 2 * time.Hour}}}
	}
	made, err := sc("true").Scenario()
	require.NoError(t, err)
	p := made.NewMachine().Proc(1)
	require.NoError(t, p.Rename("/data/lock", "/data/aside"))
	require.ErrorIs(t, p.Rename("/data/old", "/data/older"), fsfake.EXDEV)
	f, ok := scenarios.NewView(made.NewMachine()).Lstat("/data/lock")
	require.True(t, ok)
	require.Equal(t, 2*time.Hour, made.NewMachine().Now().Sub(time.Unix(0, f.Mtime)))
}

// A killed owner's directory is the start of others: with its hard links, and two days old.
func TestLeftovers(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: programs are traced on linux/amd64 only; go test ./scenarios/command runs it there")
	}
	scenario(t, "ln", []string{"ln n lock"}, map[string]string{"n": ""}, "") // skips where nothing can be traced
	studies, err := command.Spec{Commands: []command.Line{{Shell: "ln n lock || exit 75; rm lock"}}, Files: []command.File{{Name: "n"}}}.Survey()
	require.NoError(t, err)
	i := slices.IndexFunc(studies, func(s command.Study) bool { return s.Hazard.ID == scenarios.HazardDeadOwner })
	require.Len(t, studies[i].Situations, 2, "alone, and with the lock there")
	k := slices.IndexFunc(studies, func(s command.Study) bool { return s.Hazard.ID == scenarios.HazardFailingCall })
	require.Empty(t, studies[k].NotAsked, "ln(1), which the shell starts, makes the link, and that may fail")
	require.NotEmpty(t, studies[k].Situations)
	left := studies[i].Situations[1].Spec
	require.Equal(t, []command.File{{Name: "lock", Mode: 0o644, Age: 48 * time.Hour}, {Name: "n", Same: "lock", Mode: 0o644, Age: 48 * time.Hour}}, left.Files)
	sc, err := left.Scenario()
	require.NoError(t, err)
	f, ok := scenarios.NewView(sc.NewMachine()).Lstat("/data/n")
	require.True(t, ok)
	require.Equal(t, 2, f.Nlink)
	_, err = command.Spec{Commands: []command.Line{{Shell: "a"}, {Shell: "b"}}}.Survey()
	require.ErrorContains(t, err, "one command")
}
