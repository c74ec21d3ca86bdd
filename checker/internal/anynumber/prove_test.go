package anynumber

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/learn"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// budget is how many configurations a proof in a test may glue, states how many a concrete search may have.
const (
	budget = 10_000
	states = 2_000
)

func row(t *testing.T, id string) *scenarios.Scenario {
	for _, sc := range all.All() {
		if sc.ID == id {
			return &sc
		}
	}
	t.Fatalf("no row %s", id)
	return nil
}

// first returns the first proof, and the system that it is of.
func first(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, without int) (*System, *Proof) {
	return firstWithin(t, sc, p, budget, without)
}

func firstWithin(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, budget, without int) (*System, *Proof) {
	for _, how := range Hows()[:3] { // no row needs views of two
		s, err := New(sc)
		if err != nil {
			require.ErrorAs(t, err, new(Refused))
			return nil, nil
		}
		proof, out, err := s.prove(context.Background(), p, how, budget, without)
		if err != nil {
			require.ErrorAs(t, err, new(Refused))
			return nil, nil
		}
		if out == Proved {
			return s, proof
		}
	}
	return nil, nil
}

// reach visits the states of n processes, as configurations, until there are too many; it reports whether one breaks p.
func (s *System) reach(n int, p *scenarios.Property, visit func(*Config)) (broken bool) {
	bad, asserts := func(*Config) bool { return false }, false
	if p != nil {
		bad, asserts = s.badOf(p), p.Shows == scenarios.InAStep
	}
	c := s.begin(n)
	v := c.canonical(c.full(), How{Names: true})
	seen, work := map[string]bool{v.Key: true}, []Config{v.Config}
	for ; len(work) > 0 && len(seen) < states; work = work[1:] {
		c := work[0]
		visit(&c)
		broken = broken || bad(&c)
		for _, pid := range c.full() {
			s.next(&c, pid, func(d step) {
				broken = broken || asserts && d.failed
				if v := d.canonical(d.full(), How{Names: true}); !seen[v.Key] {
					seen[v.Key] = true
					work = append(work, v.Config)
				}
			})
		}
	}
	return broken
}

// missing counts the views of states of n processes that a proof has not. States of more than three are drawn.
func missing(s *System, proof *Proof, n int) (all, missing int) {
	look := func(c *Config) {
		subsets(c.full(), proof.How.K, func(keep []int) bool {
			all++
			if _, ok := proof.Views[c.canonical(keep, proof.How).Key]; !ok {
				missing++
			}
			return true
		})
	}
	if n > 3 {
		s.walk(n, testmain.Many(2, 4, 40), look)
	} else {
		s.reach(n, nil, look)
	}
	return all, missing
}

// walk visits states on drawn ways of n processes, of which few are killed.
func (s *System) walk(n, ways int, visit func(*Config)) {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	for range ways {
		c := s.begin(n)
		for range 30 * n {
			visit(&c)
			pids := c.full()
			var next []Config
			pid := pids[rng.IntN(n)]
			s.next(&c, pid, func(d step) {
				if !d.proc(pid).Dead || rng.IntN(30) == 0 || c.proc(pid).Place.Node == learn.Ended {
					next = append(next, d.Config)
				}
			})
			if len(next) > 0 {
				c = next[rng.IntN(len(next))]
			}
		}
	}
}

// What is proved of the catalogue, with which views.
func TestProvedRows(t *testing.T) {
	for _, c := range []struct {
		id    string
		how   How
		views int
	}{
		{"ctx/excl/contend", How{K: 1, Makers: true}, 59},
		{"ctx/excl/crash", How{K: 1, Makers: true}, 85},
		{"openclaw-takeover/flock/dead-owner", How{K: 1}, 10},
		{"dev3/mkdir-plain/contend", How{K: 1, Inside: true}, 16},
		{"gofrs-flock/keep-file/contend", How{K: 1}, 13},
		{"portalocker/verify-and-unlink-held/contend", How{K: 1}, 57},
		{"rubygems/keep-file/contend", How{K: 1}, 11},
		{"sqlite-dotfile/mkdir/crash", How{K: 1, Inside: true}, 11},
		{"openclaw-takeover/guarded/dead-owner", How{K: 1, Makers: true}, 603},
		{"dpkg/fcntl-permanent/contend", How{K: 1}, 22},
		{"fasteners/lockf/contend", How{K: 1}, 15},
		{"fslock/lockf/contend", How{K: 1}, 11},
	} {
		t.Run(c.id, func(t *testing.T) {
			if testing.Short() && c.views > 500 {
				t.Skip("SKIPPED with -short: it takes seconds; go test ./checker/internal/anynumber runs it")
			}
			s, proof := first(t, row(t, c.id), scenarios.MutualExclusion, 0)
			require.NotNil(t, proof)
			require.Equal(t, c.how, proof.How)
			require.Len(t, proof.Views, c.views)
			for n := 2; n <= 5; n++ {
				if n > 2 && testing.Short() {
					break
				}
				all, gone := missing(s, proof, n)
				require.NotZero(t, all)
				require.Zero(t, gone, "views of %d processes that the proof has not", n)
			}
		})
	}
}

// States of up to five processes project into every proof, and no row is proved that is broken. Most of the time goes
// into what is not proved: a tenth of the budget proves most rows, and wrong proofs are small.
func TestNoBrokenRowIsProved(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it asks every row; go test ./checker/internal/anynumber runs it")
	}
	proved := 0
	for i, sc := range all.All() {
		if i%3 != 0 && !testmain.Long() {
			continue
		}
		for _, claim := range sc.Claims {
			s, proof := firstWithin(t, &sc, claim.Property, testmain.Many(budget/10, budget/10, budget), 0)
			if proof == nil {
				continue
			}
			proved++
			require.Equal(t, scenarios.Holds, claim.Verdict, "%s %s", sc.ID, claim.Property)
			for n := 2; n <= testmain.Many(2, 2, 5); n++ {
				_, gone := missing(s, proof, n)
				require.Zero(t, gone, "%s %s: views of %d processes that the proof has not", sc.ID, claim.Property, n)
			}
		}
	}
	require.GreaterOrEqual(t, proved, 10)
}

// Without a rule of the gluing there are proofs of what is broken, or states that project to no known view.
func TestGluingRulesAreNeeded(t *testing.T) {
	for _, c := range []struct {
		without int
		id      string
	}{
		{1, "simpleflock/unlink-before-unlock/contend"},
		{3, "simpleflock/unlink-before-unlock/contend"},
		{1, "nix/unlink-then-mark/crash"},
		{3, "nix/unlink-then-mark/crash"},
	} {
		t.Run(fmt.Sprint(c.without, c.id), func(t *testing.T) {
			if c.id[0] == 'n' {
				testmain.OnlyLong(t, "it takes seconds", "./checker/internal/anynumber")
			}
			sc := row(t, c.id)
			_, proof := first(t, sc, scenarios.MutualExclusion, 0)
			require.Nil(t, proof, "it is broken")
			s, proof := first(t, sc, scenarios.MutualExclusion, c.without)
			require.NotNil(t, proof, "the rule makes no difference here")
			lost := 0
			for n := 2; n <= 3; n++ {
				_, gone := missing(s, proof, n)
				lost += gone
			}
			require.NotZero(t, lost)
		})
	}
}
