package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// otherSkips are the files with a skip that has another form, and why.
var otherSkips = map[string]string{
	"checker/report/site/chromium_test.go": "it says how a browser is installed",
	"fsfake/powerloss_test.go":             "it is of one draw of many",
	"sched/schedule_test.go":               "it is of one input of a fuzz test, which another test has",
}

// A skip says what was not tested, why, and where it is.
func TestSkipsSayWhereTheTestRuns(t *testing.T) {
	skip := regexp.MustCompile(`\bt\.Skipf?\(.*`)
	found := 0
	require.NoError(t, filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(name, filepath.FromSlash("../../")))
		if err != nil || !strings.HasSuffix(rel, "_test.go") || otherSkips[rel] != "" {
			return err
		}
		text, err := os.ReadFile(name)
		for _, line := range skip.FindAllString(string(text), -1) {
			found++
			if !strings.Contains(line, `"SKIPPED`) || !strings.Contains(line, "go test ") {
				t.Errorf("%s: %s: say SKIPPED, what, why, and where go test runs it (testmain.Slow, Needs and Traced do)", rel, line)
			}
		}
		return err
	}))
	require.Greater(t, found, 10)
}
