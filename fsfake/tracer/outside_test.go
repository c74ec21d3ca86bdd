//go:build linux && amd64

package tracer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// What a program changes or locks outside of the virtual directory is listed; what it only reads, fails to change, or
// writes to a device is not.
func TestOutside(t *testing.T) {
	for script, want := range map[string]string{
		"echo 1 > OUT/n; cat OUT/n > copy":                            "n",
		"cat OUT/there > here; echo > /dev/null; ls OUT; test -w OUT": "",
		"mkdir OUT/d; mv OUT/d OUT/e; rmdir OUT/e":                    "d e",
		"mkdir OUT/no/such; rmdir OUT/no; ln -s x OUT/there":          "",
		"ln -s x OUT/link; rm OUT/link; cd OUT && mkdir sub":          "link sub",
		"exec 9< OUT/there; flock 9":                                  "there",
		"cd OUT; echo > ./../OUT2/n":                                  "../OUT2/n",
		"touch OUT/n; chmod 600 OUT/n; ln OUT/n OUT/hard":             "hard n",
	} {
		out, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(out+"/there", nil, 0o644))
		beside := filepath.Join(filepath.Dir(out), "OUT2")
		require.NoError(t, os.MkdirAll(beside, 0o755))
		run, err := tracer.Start(config("sh", "-c", strings.NewReplacer("OUT2", "OUT2", "OUT", out).Replace(script)))
		skipUntraceable(t, err)
		require.NoError(t, err)
		toItsEnd(t, newMachine(), run, func(tracer.Pending, fsfake.Result) {})
		var got []string
		for _, name := range run.Outside() {
			rel, err := filepath.Rel(out, name)
			require.NoError(t, err)
			got = append(got, rel)
		}
		run.Stop()
		require.Equal(t, want, strings.Join(got, " "), script)
	}
}
