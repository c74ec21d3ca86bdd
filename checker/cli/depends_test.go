package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// Scripts that skip or refuse while another one runs, with what is asked, and what each answer says.
var depending = []struct {
	name, script string
	headline     string
	asks         string // "" for no question
	yes, no      string // flags
	yesExit      int
	long         bool // only in the long form
}{
	{"skips", "exec 9>.lk\nflock -n 9 || exit 0\nread n <n; echo $((n+1)) >n\n",
		"IT DEPENDS", "Does exit 0 of a command that has changed no file mean", "0", "none", ExitAsClaimed, false},
	{"says so and skips", "exec 9>.lk\nflock -n 9 || { echo busy; exit 0; }\nread n <n; echo $((n+1)) >n\n",
		"IT DEPENDS", "Does exit 0 of a command that has changed no file mean", "0", "none", ExitAsClaimed, true},
	{"refuses", "exec 9>.lk\nflock -n 9 || exit 1\nread n <n; echo $((n+1)) >n\n",
		"IT DEPENDS", "Does exit 1 mean that the command has done nothing?", "1", "none", ExitAsClaimed, false},
	{"loses data although it skips", "[ -e pid ] && exit 0\n: >pid\nread n <n; echo $((n+1)) >n\nrm -f pid\n",
		"BROKEN", "Does exit 0 of a command that has changed no file mean", "0", "none", ExitDiffers, true},
	// Who finds the file skips, and who finds it a moment later is refused: it holds where both may be.
	{"skips, or is refused later",
		"[ -e pid ] && exit 0\nset -C\n: >pid || exit 2\nread n <n\nset +C\necho $((n+1)) >n\nrm pid\n",
		"IT DEPENDS", "Does exit 0 of a command that has changed no file mean", "0,2", "none", ExitAsClaimed, true},
	{"is refused in two ways", "[ -e a ] && exit 2\nmkdir a 2>/dev/null || exit 4\nread n <n\necho $((n+1)) >n\nrmdir a\n",
		"IT DEPENDS", "Does exit 2 or 4 mean that the command has done nothing?", "2,4", "none", ExitAsClaimed, true},
	// Each of two ways to be refused breaks it in a schedule of its own.
	{"skips, or is refused in two ways",
		"[ -e a ] && exit 0\n[ -e a ] && exit 2\nmkdir a 2>/dev/null || exit 4\nread n <n\necho $((n+1)) >n\nrmdir a\n",
		"IT DEPENDS", "Does exit 0 of a command that has changed no file mean", "0,2,4", "none", ExitAsClaimed, true},
	// Where exit 0 may skip, it is broken by exit 3, which may be a refusal: it holds where both are.
	{"skips, or fails later", "[ -e n ] || exit 0\n[ -e n ] || exit 3\nmv n n.0\n: >n\n",
		"IT DEPENDS", "Does exit 0 of a command that has changed no file mean", "0,3", "none", ExitAsClaimed, true},
	// Both find the pid file still empty and go on, and the second rm fails: that is shown, and no run that skips.
	{"finds an empty pid file", "read p <pid && kill -0 $p && exit 0\necho $$ >pid\nread n <n; echo $((n+1)) >n\nrm pid\n",
		"kind    altered", "Does exit 0 of a command that has changed no file mean", "0", "none", ExitDiffers, true},
	// Who finds its own value there writes nothing and exits 0. Else all refuse, which is milder.
	{"writes what differs, or all refuse", "read n <n\nexec 7<n 8<job.sh\n" +
		"case $1 in w) flock -n 7 && flock -n 8;; *) flock -n 8 && flock -n 7;; esac || exit 5\n" +
		"read now <n; [ $now = $((n+1)) ] || echo $((n+1)) >n\n",
		"kind    lost", "Does exit 0 of a command that has changed no file mean", "0,5", "none", ExitDiffers, false},
	// Who never changes a file skips nothing: what it has read is compared.
	{"reads what is half written", "case $1 in w) echo 22 >n;; *) cat n;; esac\n",
		"BROKEN", "", "0", "none", ExitDiffers, true},
	{"loses data", "read n <n; echo $((n+1)) >n\n", "BROKEN", "", "0", "none", ExitDiffers, true},
}

// Two commands that try two locks in either order may both give up: that is right only where somebody says so.
func TestRunSaysThatAllMayRefuse(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "flock", "./checker/cli")
	dir := t.TempDir()
	for name, text := range map[string]string{ // order does not matter: each is a file
		"job.sh": "exec 7<$1 8<$2\nflock -n 7 && flock -n 8 || exit 5\necho x >>n\n", "a": "", "b": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	of := func(refused string) outcome {
		return run(t, "run", "--native", "off", "--dir", dir, "--property", "serializable", "--refused", refused,
			"sh job.sh a b", "sh job.sh b a")
	}
	got := of("5")
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, strings.Join(strings.Fields(got.stdout), " "), "giving up is right, add --refused 5,all. (LP")
	require.Equal(t, ExitAsClaimed, of("5,all").exit)
}

func TestRunAsksWhatAnExitMeans(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "flock", "./checker/cli")
	for _, c := range depending {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.long {
				testmain.OnlyLong(t, "what it asks is asked of others, too", "./checker/cli")
			}
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "job.sh"), []byte(c.script), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
			of := func(flags ...string) outcome {
				args := append([]string{"run", "--native", "off", "--dir", dir, "--property", "serializable"}, flags...)
				return run(t, append(args, "sh job.sh w", "sh job.sh r")...)
			}
			got := of()
			require.Contains(t, got.stdout, c.headline, got.stderr)
			require.NotContains(t, got.stdout, "end with status 3")
			if c.asks == "" {
				require.NotContains(t, got.stdout, "Does exit")
			} else {
				require.Contains(t, got.stdout, c.asks)
			}
			require.Equal(t, c.yesExit, of("--refused", c.yes).exit)
			if some, ok := strings.CutSuffix(c.yes, ",4"); ok {
				require.Contains(t, strings.Join(strings.Fields(of("--refused", some).stdout), " "),
					"If giving up is right, add --refused 4. (LP", "whatever the cause is")
			}
			require.Equal(t, ExitDiffers, of("--refused", c.no).exit)
			if c.headline != "IT DEPENDS" {
				return
			}
			require.Equal(t, ExitUnknown, got.exit)
			if strings.Contains(c.script, "flock") {
				require.Regexp(t, `cause +[AB] meets another's lock at step (\d+): flock `, got.stdout)
				require.Regexp(t, `source +\S*job\.sh:2: step (\d+), [AB]:\s+flock `, got.stdout)
			}
			require.NotContains(t, got.stdout, "not known: whether", "where all succeed nothing is lost, for it holds then")
			if c.yes == "1" {
				require.Contains(t, got.stdout, "refused: a command fails, and has changed nothing")
			}
			var report struct {
				Results []struct {
					Question struct {
						Yes, No struct{ Flags, Verdict string }
					}
				}
			}
			require.NoError(t, json.Unmarshal([]byte(of("--json").stdout), &report))
			q := report.Results[0].Question
			require.Equal(t, "--refused "+c.yes+" holds", q.Yes.Flags+" "+q.Yes.Verdict)
			require.Equal(t, "--refused "+c.no+" broken", q.No.Flags+" "+q.No.Verdict)
		})
	}
}
