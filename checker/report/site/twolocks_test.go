package site

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// wrongLine is the line of a page that says what breaks the property.
var wrongLine = regexp.MustCompile(`<p class="wrong">(.*)</p>`)

// Pages of scenarios with two locks say of which one what breaks is said.
func TestPagesOfTwoLocks(t *testing.T) {
	testmain.OneWorker(t)
	want := map[string]string{
		"toy/taken-away/contend": "at first", "toy/first-removed/contend": "first", "toy/second-removed/contend": "second",
		"toy/leases-one-count/contend": "second", "toy/rw-two-shared/contend": "second", "toy/left-excl/exit": "first",
	}
	rs, err := decide(slices.DeleteFunc(toys.Locks(), func(sc scenarios.Scenario) bool { return want[sc.ID] == "" }), checker.Options{Workers: 1})
	require.NoError(t, err)
	site := written(t, rs, report.Options{})
	for toy, lock := range want {
		found := wrongLine.FindAllStringSubmatch(bodyOf(site["scenarios/"+strings.ReplaceAll(toy, "/", ".")+".html"]), -1)
		require.NotEmpty(t, found, toy)
		for _, f := range found {
			if !strings.Contains(f[1], "nobody can ever acquire") { // of whatever there is
				require.Contains(t, f[1], lock, toy)
			}
		}
	}
}
