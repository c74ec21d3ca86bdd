//go:build linux

package real

import (
	"context"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

var corpusFlag = flag.Bool("real.corpus", false, "replay every broken row of the corpus on the real kernel, not only those of the core")

// Every broken row of the corpus replays on the fake, and where the real machine can be what the row's
// is, it breaks there too.
//
//	go test ./checker/real -run TestCorpusOnTheKernel -real.corpus -v
func TestCorpusOnTheKernel(t *testing.T) {
	if !*corpusFlag {
		t.Skip("SKIPPED without -real.corpus: the broken rows of the core are replayed by TestEveryBrokenRow; go test ./checker/real -run TestCorpusOnTheKernel -real.corpus -v replays those of the corpus, in seconds")
	}
	confirmed, refused := 0, map[string]int{}
	for _, sc := range all.Corpus() {
		for _, c := range sc.Claims {
			if c.Verdict != scenarios.Broken {
				continue
			}
			t.Run(sc.ID+" "+c.Property.ID, func(t *testing.T) {
				sc, s := sc, counterexample(t, &sc, c.Property)
				fake, err := checker.Replay(&sc, c.Property, s)
				require.NoError(t, err)
				require.True(t, fake.Broken)
				r, err := Replay(context.Background(), &sc, c.Property, s)
				if err != nil {
					_, why, _ := strings.Cut(err.Error(), sc.ID+": ")
					require.NotEmpty(t, why, err)
					refused[why]++
					t.Log(err)
					return
				}
				for _, m := range r.Mismatches {
					t.Error(m)
				}
				require.True(t, r.Broken)
				confirmed++
			})
		}
	}
	t.Logf("%d broken rows are broken on the real kernel", confirmed)
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d were not tried: %s", refused[why], why)
	}
}

// A child's calls are made by a real child: one that runs a program of its own leaves its parent what
// it is, and keeps what it has inherited when the parent closes it. Before, a thread of the parent made
// them.
func TestChildrenOnTheKernel(t *testing.T) {
	for _, id := range []string{"materialize/inherited/spawn", "materialize/close-on-exec/fork"} {
		for _, sc := range all.Corpus() {
			if sc.ID != id {
				continue
			}
			s := counterexample(t, &sc, scenarios.SpuriousFailure)
			r, err := Replay(t.Context(), &sc, scenarios.SpuriousFailure, s)
			require.NoError(t, err)
			require.Empty(t, r.Mismatches)
			require.True(t, r.Broken)
		}
	}
}
