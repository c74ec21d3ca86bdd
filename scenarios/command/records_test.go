package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// counts waits for a record lock for five seconds at most, and counts.
const counts = `import fcntl, os, signal, sys
def on(*a): os._exit(1)
signal.signal(signal.SIGALRM, on)
f = open('lock', 'w')
for i in range(int(sys.argv[1])):
    signal.alarm(5)
    fcntl.lockf(f, fcntl.LOCK_EX)
    signal.alarm(0)
    n = int(open('n').read())
    open('n', 'w').write(f'{n+1}\n')
    fcntl.lockf(f, fcntl.LOCK_UN)
`

// beats has a timer that goes off again and again.
const beats = `import fcntl, signal
signal.signal(signal.SIGALRM, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 1, 1)
fcntl.lockf(open('lock', 'w'), fcntl.LOCK_EX)
`

// cycle locks one file and then another one, for five seconds at most. Who is told of a deadlock shows that for a
// moment. Who sees it, when his time has come, says so.
const cycle = `import fcntl, os, signal, sys
def on(*a):
    if os.path.exists('d'): open('bad', 'w')
    os._exit(1)
signal.signal(signal.SIGALRM, on)
a, b = open(sys.argv[1], 'r+'), open(sys.argv[2], 'r+')
fcntl.lockf(a, fcntl.LOCK_EX)
signal.alarm(5)
try: fcntl.lockf(b, fcntl.LOCK_EX)
except OSError:
    os.mkdir('d'); os.rmdir('d'); os._exit(1)
`

// A timer may end the wait for a record lock, as that for a lock of flock(2), where no other process can be told that
// it waits: of one that holds another lock one order is followed.
func TestTimedWaitsForRecords(t *testing.T) {
	testmain.Slow(t, "interpreters take long to start", "./scenarios/command")
	t.Parallel()
	for _, c := range []struct{ line, other, refused, verdict, why string }{
		{"python3 counts.py 1", "python3 counts.py 1", "1", "holds", ""},
		{"python3 counts.py 1", "python3 counts.py 1", "none", "broken", ""},   // one that gave up has not counted
		{"python3 counts.py 2", "python3 fcntl-counter.py", "1", "broken", ""}, // it has counted
		{"python3 beats.py", "python3 beats.py", "1", "unknown", "while timers go off again and again"},
		{"python3 cycle.py a b", "python3 cycle.py b a", "1", "unknown", "while its process has another record lock"},
	} {
		t.Run(c.line+" "+c.refused, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.line+" "+c.refused, "./scenarios/command", "python3 counts.py 1 1",
				"python3 counts.py 1 none", "python3 beats.py 1")
			files := map[string]string{
				"n": "0\n", "lock": "", "a": "", "b": "", "counts.py": counts, "cycle.py": cycle, "beats.py": beats,
			}
			sc := scenario(t, "python3", []string{c.line, c.other}, files, "refused "+c.refused)
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r := decide(t, sc, p, c.verdict)
			require.Contains(t, r.Why, c.why)
		})
	}
}
