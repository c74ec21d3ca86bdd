package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// Scripts are locked in their first lines, other commands are wrapped.
func TestRepairs(t *testing.T) {
	script := File{Name: "up.sh", Content: "#!/bin/sh\n# adds one\nread n <n\necho $((n+1)) >n\n"}
	for _, c := range []struct {
		name   string
		lines  []string
		pastes [][]string
	}{
		{"a script twice", []string{"sh up.sh", "bash ./up.sh"}, [][]string{
			{"--- a/up.sh", "+++ b/up.sh", "@@ -1,4 +1,6 @@", " #!/bin/sh", " # adds one",
				"+exec 9>n.lock", "+flock 9", " read n <n", " echo $((n+1)) >n"},
			{"flock n.lock sh up.sh", "flock n.lock bash ./up.sh"},
			{"flock n sh up.sh", "flock n bash ./up.sh"},
		}},
		{"a script beside a command", []string{"sh up.sh", "cat n"}, [][]string{
			{"flock n.lock sh up.sh", "flock n.lock cat n"}, {"flock n sh up.sh", "flock n cat n"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Spec{Files: []File{script, {Name: "n", Content: "0\n"}}}
			for _, l := range c.lines {
				s.Commands = append(s.Commands, Line{Shell: l})
			}
			var pastes [][]string
			for _, r := range s.Repairs("n") {
				pastes = append(pastes, r.Paste)
			}
			require.Equal(t, c.pastes, pastes)
		})
	}
}

// A lock file has a name that nothing has.
func TestLockOfARepairIsNew(t *testing.T) {
	s := Spec{Commands: []Line{{Shell: "cat n"}}, Files: []File{{Name: "n"}, {Name: "n.lock"}}}
	require.Equal(t, ".n.lock", s.Repairs("n")[0].Lock)
	require.Equal(t, "command.lock", s.Repairs("")[0].Lock)
}

// A repair by which a command does nothing, always refuses, or waits for ever is none.
func TestSameAlone(t *testing.T) {
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	testmain.Needs(t, "sh", "./scenarios/command")
	s := Spec{Commands: []Line{{Shell: "sh up.sh"}}, Files: []File{{Name: "n", Content: "0\n"}, {Name: "up.sh",
		Content: "read n <n; echo $((n+1)) >n\n"}}}
	_, err := s.Scenario()
	testmain.Traced(t, err, "./scenarios/command")
	for _, c := range []struct {
		shell string
		same  bool
	}{
		{"sh up.sh", true},
		{"flock n.lock sh up.sh", true},
		{"true <n", false},
		{"sh up.sh; exit 75", false},
	} {
		if strings.HasPrefix(c.shell, "flock") {
			testmain.Needs(t, "flock", "./scenarios/command")
		}
		same, err := s.SameAlone(&Repair{Lock: "n.lock", Spec: s.changed([]Line{{Shell: c.shell}}, s.Files)})
		require.NoError(t, err)
		require.Equal(t, c.same, same, c.shell)
	}
	waits := s.changed([]Line{{Shell: "exec 8>k; flock 8; exec 9>k; flock 9; sh up.sh"}}, s.Files)
	testmain.Needs(t, "flock", "./scenarios/command")
	_, err = s.SameAlone(&Repair{Lock: "k", Spec: waits})
	require.Error(t, err)
}
