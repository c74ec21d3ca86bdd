package command_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// Owners are compared where they can differ: a file is copied, gets another owner, and is replaced by the copy.
func TestOwners(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only the superuser gives files to others; as root go test ./scenarios/command runs it")
	}
	for line, want := range map[string]string{"cp -p f g; mv g f": "broken", "chgrp 1 f": "holds"} {
		t.Run(line, func(t *testing.T) {
			sc := scenario(t, "chown", []string{"chown 2 f", line}, map[string]string{"f": ""}, "")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, want)
		})
	}
}

// So are times that files are given: one may have what one command wrote, and the time that another one gave it.
func TestGivenTimes(t *testing.T) {
	for lock, want := range map[string]string{"": "broken", "flock l ": "holds"} {
		t.Run(want, func(t *testing.T) {
			copies := func(name, year string) string {
				made := "echo " + year + " >" + name + "; touch -d " + year + "-01-01 " + name + "; "
				return "sh -c '" + made + lock + "cp -p " + name + " f'"
			}
			sc := scenario(t, "cp", []string{copies("a", "2001"), copies("b", "2002")}, map[string]string{"f": ""}, "")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, p, want)
		})
	}
}
