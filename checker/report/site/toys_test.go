package site

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// toyVerdicts holds the verdicts on the toys, which many tests look at.
var toyVerdicts = sync.OnceValues(func() ([]checker.Result, error) { return decide(toys.All(), checker.Options{Workers: 1}) })

// decide answers every claim.
func decide(all []scenarios.Scenario, o checker.Options) ([]checker.Result, error) {
	var out []checker.Result
	for i := range all {
		for _, c := range all[i].Claims {
			r, err := checker.Check(context.Background(), &all[i], c.Property, o)
			if err != nil {
				return nil, err
			}
			out = append(out, withoutSource(r))
		}
	}
	return out, nil
}

// withoutSource forgets where in the toys' source the calls stand: the pages would change with
// every line that moves.
func withoutSource(r checker.Result) checker.Result {
	if r.Counterexample != nil {
		for i := range r.Counterexample.Trace {
			for k := range r.Counterexample.Trace[i].Calls {
				r.Counterexample.Trace[i].Calls[k].Source = scenarios.Source{}
			}
		}
	}
	return r
}

func results(t *testing.T) []checker.Result {
	t.Helper()
	testmain.OneWorker(t)
	rs, err := toyVerdicts()
	require.NoError(t, err)
	return slices.Clone(rs)
}

// resultOf is the verdict on a toy.
func resultOf(t *testing.T, id string, p *scenarios.Property) *checker.Result {
	testmain.OneWorker(t)
	t.Helper()
	rs := results(t)
	i := slices.IndexFunc(rs, func(r checker.Result) bool { return r.Scenario.ID == id && r.Property == p })
	require.GreaterOrEqual(t, i, 0, id)
	return &rs[i]
}

// written is a site as a map from file names to contents.
func written(t *testing.T, rs []checker.Result, o report.Options) map[string]string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, Write(dir, rs, o))
	return files(t, dir)
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return out
}

// bodyOf is what a page says, without style and script.
func bodyOf(page string) string {
	_, body, _ := strings.Cut(page, "<body")
	body, _, _ = strings.Cut(body, "<script")
	return "<body" + body
}

func sorted(site map[string]string) []string { return slices.Sorted(maps.Keys(site)) }
