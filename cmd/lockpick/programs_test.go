package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/scenarios/all"
)

var (
	table   = flag.Bool("programs.table", false, "decide every row of the table of real programs, and print it; some are fetched by npm and go")
	onlyRow = flag.String("programs.only", "", "of the table of real programs, only rows whose program contains `TEXT`")
)

// A programRow is a row of the table of real programs.
type programRow struct {
	program string
	// needs are the programs that must be there; setup is a shell script that makes the files of the
	// start, in an empty directory, with test data in $DATA and $ALSO and a directory for binaries in $BIN.
	needs, setup string
	// args are those of lockpick run, in which PYTHON and BIN are replaced.
	args     []string
	property string
	verdict  string  // empty: whatever it is
	seconds  float64 // on an idle machine with two cores
}

// languageRows are one program in many languages.
func languageRows(lock, verdict string, most map[int]float64, settings ...string) []programRow {
	var rows []programRow
	for _, l := range []struct{ name, needs, setup, command string }{
		{"sh", "sh", "cp $DATA/LOCK.sh .", "sh LOCK.sh"},
		{"bash", "bash", "cp $DATA/LOCK.bash .", "bash LOCK.bash"},
		{"python3", "python3", "cp $DATA/LOCK.py .", "PYTHON LOCK.py"},
		{"node", "node", "cp $DATA/LOCK.js .", "node LOCK.js"},
		{"node, promises", "node", "cp $DATA/LOCK.mjs .", "node LOCK.mjs"},
		{"perl", "perl", "cp $DATA/LOCK.pl .", "perl LOCK.pl"},
		{"Go", "go", "go build -o $BIN/LOCK-go $DATA/LOCK.go", "BIN/LOCK-go"},
		{"C", "gcc", "gcc -O1 -o $BIN/LOCK-c $DATA/LOCK.c", "BIN/LOCK-c"},
	} {
		if lock == "excl" && l.name == "bash" {
			continue // set -C makes the same calls in sh
		}
		for n := 2; n <= 3; n++ {
			if most[n] == 0 {
				continue
			}
			args := append([]string{"--inside", "cs", "-n", fmt.Sprint(n)}, settings...)
			args = append(append(args, "--"), strings.Fields(strings.ReplaceAll(l.command, "LOCK", lock))...)
			rows = append(rows, programRow{
				lock + ", " + l.name, l.needs, strings.ReplaceAll(l.setup, "LOCK", lock), args, "mutual-exclusion", verdict, most[n],
			})
		}
	}
	return rows
}

// programRows are all of them.
func programRows() []programRow {
	rows := languageRows("stat-then-write", "broken", map[int]float64{2: 1, 3: 4}, "--refused", "1")
	rows = append(rows, languageRows("excl", "holds", map[int]float64{2: 3})...)
	twice := func(c string) []string { return []string{c, c} }
	inside := func(args ...string) []string { return append([]string{"--inside", "cs"}, args...) }
	refused := func(status string, args ...string) []string { return append([]string{"--refused", status}, args...) }
	const (
		mutex, serial = "mutual-exclusion", "serializable"
		sync          = "cp $ALSO/systems/sync.py .; echo 0 > cursor; : > log"
		hook          = "cp $ALSO/systems/hook.js .; echo '[]' > state.json"
		repository    = `git init -q --template= . && git config user.email a@b && git config user.name a && echo 1 > a && echo 1 > b && git add a b && git commit -qm one && git branch x && echo 2 > a && echo 2 > b`
		stale         = "mkdir data.lock; touch -d '1 hour ago' data.lock; : > data"
		npm           = "mkdir -p $BIN/npm && cp $ALSO/npm/* $BIN/npm && cd $BIN/npm && npm i --silent --no-audit --no-fund proper-lockfile@4.1.2 >/dev/null && cd - >/dev/null; "
		gofrs         = "mkdir -p $BIN/gofrs && cd $BIN/gofrs && cp $ALSO/gofrs/main.go.txt main.go && printf 'module x\\n' > go.mod && go mod tidy 2>/dev/null && go build -o ../gofrs-lock . && cd - >/dev/null"
		counter       = "cp $DATA/counter.* $DATA/mkdir-counter.sh $DATA/fcntl-counter.py $DATA/store.py .; echo 0 > n; : > lock; echo '{}' > store.json"
		adds          = "echo 'read x < n; echo $((x+$1)) > n' > add.sh; echo 0 > n; : > lock"
	)
	return append(rows, []programRow{
		{"sync lock (ctx)", "python3", sync, refused("75", twice("PYTHON sync.py")...), serial, "broken", 4},
		{"sync lock (ctx), fixed", "python3", sync, refused("75", twice("PYTHON sync.py fixed")...), serial, "holds", 4},
		{"state hook (gateguard)", "node", hook, refused("none", "node hook.js a", "node hook.js b"), serial, "broken", 4},
		{"state hook (gateguard), fixed", "node", hook, refused("none", "node hook.js a fixed", "node hook.js b fixed"), serial, "holds", 4},
		{"session lock (openclaw)", "node", "cp $ALSO/systems/session.js .", inside(refused("75", twice("node session.js")...)...), mutex, "broken", 4},
		{"session lock (openclaw), fixed", "node", "cp $ALSO/systems/session.js .", inside(refused("75", twice("node session.js fixed")...)...), mutex, "holds", 4},
		{"takeover (openclaw)", "sh", "cp $ALSO/systems/takeover.sh .; echo 99 > pid", inside(refused("75", twice("sh takeover.sh")...)...), mutex, "broken", 4},
		{"takeover (openclaw), fixed", "flock", "cp $ALSO/systems/takeover.sh .; echo 99 > pid", inside(refused("75", twice("sh takeover.sh fixed")...)...), mutex, "holds", 4},
		{"run lock (agentwire)", "python3", "cp $ALSO/systems/run.py .; echo 98 > main.lock", inside(twice("PYTHON run.py")...), mutex, "broken", 8},
		{"run lock (agentwire), fixed", "python3", "cp $ALSO/systems/run.py .; echo 98 > main.lock", inside(twice("PYTHON run.py fixed")...), mutex, "holds", 8},
		{"flock(1)", "flock", counter, []string{"-n", "4", "--", "flock", "lock", "sh", "counter.sh"}, serial, "holds", 1},
		{"flock(1) with a timeout", "flock", counter, refused("1", "-n", "3", "--", "flock", "-w", "5", "lock", "sh", "counter.sh"), serial, "holds", 1},
		{"gofrs/flock", "go", gofrs, inside("-n", "3", "--", "BIN/gofrs-lock"), mutex, "holds", 5},
		{"gofrs/flock, os.Remove", "go", gofrs, inside("-n", "3", "--", "BIN/gofrs-lock", "remove"), mutex, "broken", 5},
		{"filelock FileLock", "python3", "", inside(twice("PYTHON -c 'import filelock,os\nwith filelock.FileLock(\"l\"): os.mkdir(\"cs\"); os.rmdir(\"cs\")'")...), mutex, "holds", 30},
		{"filelock SoftFileLock", "python3", "", inside(twice("PYTHON -c 'import filelock,os\nwith filelock.SoftFileLock(\"l\"): os.mkdir(\"cs\"); os.rmdir(\"cs\")'")...), mutex, "holds", 30},
		{"proper-lockfile, stale", "npm", npm + stale, inside(refused("75", twice("node BIN/npm/lock.js 0")...)...), mutex, "broken", 8},
		{"proper-lockfile, retries", "npm", npm + ": > data", inside(refused("75", twice("node BIN/npm/lock.js 2")...)...), mutex, "unknown", 20},
		{"dotlockfile, a retry", "dotlockfile", "", inside(twice("sh -c 'dotlockfile -r 1 -l l && mkdir cs && rmdir cs && dotlockfile -u l'")...), mutex, "holds", 5},
		{"dotlockfile, five retries", "dotlockfile", "", inside(twice("sh -c 'dotlockfile -l l && mkdir cs && rmdir cs && dotlockfile -u l'")...), mutex, "holds", 60},
		{"counter, sh", "sh", counter, twice("sh counter.sh"), serial, "broken", 1},
		{"counter, sh", "sh", counter, []string{"-n", "3", "--", "sh", "counter.sh"}, serial, "broken", 4},
		{"counter, python3", "python3", counter, twice("PYTHON counter.py"), serial, "broken", 1},
		{"counter, node", "node", counter, twice("node counter.js"), serial, "broken", 1},
		{"JSON store, python3", "python3", counter, []string{"PYTHON store.py a", "PYTHON store.py b"}, serial, "broken", 1},
		{"counter under flock(1), sh", "flock", counter, twice("flock lock sh counter.sh"), serial, "holds", 1},
		{"counter under flock(1), node", "flock", counter, twice("flock lock node counter.js"), serial, "holds", 1},
		{"counter under a polled mkdir, sh", "sh", counter, twice("sh mkdir-counter.sh"), serial, "holds", 1},
		{"counter under fcntl, python3", "python3", counter, twice("PYTHON fcntl-counter.py"), serial, "holds", 1},
		{"git config", "git", repository, refused("255", "git config a.b 1", "git config a.c 2"), serial, "holds", 10},
		{"git add", "git", repository, refused("128", "git add a", "git add b"), serial, "holds", 10},
		{"git update-ref", "git", repository, refused("1,128", "git update-ref refs/heads/x HEAD", "git update-ref -d refs/heads/x"), serial, "holds", 10},
		{"git commit", "git", repository + " && git add a b", refused("1,128", "git commit -qm A", "git commit -qm B"), serial, "broken", 60},
		{"git commit, whose message", "git", repository + " && git add a b", refused("1,128", "--ignore", "COMMIT_EDITMSG", "--ignore", "objects", "--ignore", "index", "git commit -qm A", "git commit -qm B"), serial, "broken", 60},
		{"writer beside a cleaner", "sh", "", []string{"echo 1 > a.tmp; mv a.tmp a", "rm -f *.tmp"}, serial, "unknown", 1},
		{"writer beside a cleaner, no refusal", "sh", "", refused("none", "echo 1 > a.tmp; mv a.tmp a", "rm -f *.tmp"), serial, "broken", 1},
		{"killed parent of flock(1)", "flock", adds, []string{"--crashes", "1", "flock lock sh add.sh 1", "flock lock sh add.sh 10"}, serial, "holds", 5},
		{"killed parent of flock(1) -o", "flock", adds, []string{"--crashes", "1", "flock -o lock sh add.sh 1", "flock -o lock sh add.sh 10"}, serial, "broken", 5},
	}...)
}

// Every row of the table of real programs, with what it takes.
func TestProgramsTable(t *testing.T) {
	if !*table {
		t.Skip("SKIPPED: it takes minutes, and fetches programs; go test ./cmd/lockpick -run TestProgramsTable -programs.table -v -timeout 0 runs it")
	}
	data, err := filepath.Abs("../../scenarios/command/testdata")
	require.NoError(t, err)
	also, err := filepath.Abs("testdata/programs")
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Chmod(bin, 0o755))
	python := "python3"
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		python = strings.TrimSpace(string(out)) // python3 may be a script that looks for one
	}
	var lines []string
	for _, r := range programRows() {
		if !strings.Contains(r.program, *onlyRow) {
			continue
		}
		t.Run(r.program, func(t *testing.T) {
			if _, err := exec.LookPath(r.needs); err != nil {
				t.Skipf("SKIPPED: there is no %s here, so this row was not decided; where it is installed go test ./cmd/lockpick -programs.table decides it", r.needs)
			}
			emptyDir(t)
			setup := exec.Command("sh", "-c", r.setup)
			setup.Env = append(os.Environ(), "DATA="+data, "ALSO="+also, "BIN="+bin)
			out, err := setup.CombinedOutput()
			require.NoError(t, err, "%s", out)
			line, verdict := r.decide(strings.NewReplacer("PYTHON", python, "BIN/", bin+"/"))
			lines = append(lines, line)
			fmt.Fprintln(os.Stderr, line)
			if r.verdict != "" {
				require.Equal(t, r.verdict, verdict)
			}
		})
	}
	t.Logf("\n| program | processes | property | verdict | on the kernel | runs | states | interleavings | seconds |\n|---|--:|---|---|---|--:|--:|--:|--:|\n%s", strings.Join(lines, "\n"))
}

var (
	verdictLine = regexp.MustCompile(`(?m)^\S+  ([A-Z]+)  ([a-z-]+)`)
	countsLine  = regexp.MustCompile(`(?:(\S+(?: [a-z]+)?) interleavings, covered by )?(\d+) runs? of the programs` +
		` · ([\d ]+) states?`)
	processes = regexp.MustCompile(`(?m)^(\d+) process`)
)

// decide runs a row, and returns it as a line of the table, and its verdict.
func (r *programRow) decide(names *strings.Replacer) (line, verdict string) {
	args := []string{"run", "--property", r.property, "--timeout", "4m"} // of some, nobody knows when they end
	for _, a := range r.args {
		args = append(args, names.Replace(a))
	}
	var stdout, stderr bytes.Buffer
	start := time.Now()
	cli.Run(context.Background(), all.All(), args, &stdout, &stderr, nil)
	took := time.Since(start).Seconds()
	text := stdout.String()
	found := verdictLine.FindStringSubmatch(text)
	if found == nil {
		last := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return fmt.Sprintf("| %s | | %s | %s | | | | | %.1f |", r.program, r.property, last[len(last)-1], took), "error"
	}
	verdict = strings.ToLower(found[1])
	n, counts := "", []string{"", "", "", ""}
	if m := processes.FindStringSubmatch(text); m != nil {
		n = m[1]
	}
	if m := countsLine.FindStringSubmatch(text); m != nil {
		counts = m
	}
	kernel := ""
	switch {
	case strings.Contains(text, "the model agrees with this kernel"):
		kernel = "agrees"
	case verdict == "broken":
		kernel = "does not agree"
	}
	over := ""
	if took > r.seconds {
		over = fmt.Sprintf(" (more than %g)", r.seconds)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %.1f%s |", r.program, n, r.property, verdict, kernel, counts[2], counts[3], counts[1], took, over), verdict
}
