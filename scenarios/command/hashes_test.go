package command_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
)

// pointer makes a name and contents of the time, and has f point to them.
const pointer = `
import hashlib, os, time, zlib
now = str(int(time.time())).encode()
h = hashlib.sha1(now).hexdigest()
name = 'o/' + h[:2] + '/' + h[2:]
if not os.path.exists(name):
    os.mkdir('o/' + h[:2])
    text = b'\xff' + zlib.compress(now * 9)
    with open('o/t', 'wb') as o: o.write(text)
    os.rename('o/t', name)
    with open(name, 'rb') as o: assert o.read() == text
with open('t', 'w') as t: t.write(h + '\n')
os.rename('t', 'f')
`

// temporary makes a temporary file, and calls it by the time.
const temporary = `
import os, time
name = 'f.' + ''.join(chr(97 + int(d)) for d in str(int(time.time()) % 1000000))
fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.write(fd, b'new')
os.close(fd)
os.rename(name, 'f')
`

// A command alone may make names of the time, as git does; one that does something else at another time may not.
func TestNamesOfTheTime(t *testing.T) {
	for _, c := range []struct {
		what, line, files string
		verdict           checker.Verdict
		beside            []string
	}{
		{"names of its own", pointer, "o/", checker.Holds, nil},
		{"beside another command", pointer, "o/", checker.Unknown, []string{"cat f"}},
		{"a temporary file beside another command", temporary, "", checker.Holds, []string{"cat f"}},
		{"one that may be there", strings.Replace(temporary, "| os.O_EXCL ", "", 1), "", checker.Unknown,
			[]string{"cat f"}},
		{"in place at another time", strings.Replace(pointer, "os.rename('t', 'f')",
			"os.rename('t', 'f') if h[0] == hashlib.sha1(b'1767225600').hexdigest()[0] else open('f', 'w')", 1), "o/",
			checker.Unknown, nil},
		{"names that are there", `
import os, time
with open('t', 'w') as t: t.write('new')
os.rename('t', ('a' if time.time() < 1767225700 else 'b') * 40)
`, strings.Repeat("a", 40) + " " + strings.Repeat("b", 40), checker.Unknown, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.what, "./scenarios/command", "a temporary file beside another command",
				"one that may be there", "names that are there")
			python := testmain.Python(t, "./scenarios/command")
			files := map[string]string{"f": "old", "p.py": c.line}
			for _, name := range strings.Fields(c.files) {
				files[name] = ""
			}
			lines := append([]string{python + " -SE p.py"}, c.beside...)
			sc := scenario(t, "python3", lines, files, "crashes 1\nrefused none")
			p, err := sc.Property("atomic")
			require.NoError(t, err)
			r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict, r.Why)
			said := false
			for _, a := range sc.Assumed() {
				said = said || a.Code == "names-of-the-time"
			}
			require.Equal(t, c.verdict == checker.Holds, said)
		})
	}
}
