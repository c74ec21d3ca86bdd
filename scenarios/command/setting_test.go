package command_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// fieldTexts has a value of each field that commands have.
var fieldTexts = map[string]string{
	"crashes": "2", "failing-calls": "1", "fail-with": "EIO", "power-losses": "1", "file-system": "xfs",
	"kill": "group", "stalls": "1", "stall-for": "2m0s", "skew": "0s,1m30s", "assume": "times-shared",
}

// A spec takes every field of the table that commands have; an archive keeps it, and so does the scenario.
func TestFieldsOfCommands(t *testing.T) {
	for _, f := range command.Fields() {
		text := fieldTexts[f.Name]
		require.NotEmpty(t, text, "give fieldTexts a value of %s", f.Name)
		s := command.Spec{Commands: []command.Line{{Shell: "mkdir a"}, {Shell: "mkdir b"}}}
		require.NoError(t, s.Set(f.Flag, text))
		archive, err := s.Format()
		require.NoError(t, err)
		again, err := command.Parse(archive)
		require.NoError(t, err)
		require.Equal(t, s, again, "%s", archive)
		require.Equal(t, text, f.Text(&again.Setting))

		sc, err := s.Scenario()
		needTracing(t, err)
		require.NoError(t, err)
		require.Equal(t, text, f.Text(&sc.Setting))
	}
}

// What commands do not honour is refused, and not ignored.
func TestFieldsThatCommandsLack(t *testing.T) {
	for want, st := range map[string]scenarios.Setting{
		"no such setting":       {Signals: 1, Handlers: []int{0}},
		"processes 3":           {Processes: 3},
		"given for 2 processes": {Skew: []time.Duration{0, time.Minute}},
		"choose 0 to 1":         {PowerLosses: 2},
		"crashes -1: choose 0":  {Crashes: -1},
		"no file system":        {Machine: fsfake.Options{Profile: fsfake.NFS}},
	} {
		s := command.Spec{Commands: []command.Line{{Shell: "mkdir a"}}, Setting: st}
		_, err := s.Scenario()
		require.ErrorContains(t, err, want)
	}
}
