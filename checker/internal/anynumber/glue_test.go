package anynumber

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// made counts the configurations of two processes in states of n, and those that gluing their two views does not make.
func made(s *System, n, without int) (all, not int) {
	how := How{K: 1, Makers: true, Names: true}
	s.reach(n, nil, func(c *Config) {
		for _, a := range c.full() {
			for _, b := range c.full() {
				if a == b {
					continue
				}
				v, w := c.canonical([]int{a}, how), c.canonical([]int{b}, how)
				want, is := c.canonical([]int{a, b}, how).Key, false
				g := &gluing{v: &v.Config, w: &w.Config, a: low, b: low, pids: map[int]int{}, whose: map[int]int{},
					files: map[fsfake.InodeID]fsfake.InodeID{}, which: map[fsfake.InodeID]fsfake.InodeID{},
					without: without,
					visit:   func(u Config) { is = is || u.canonical(u.full(), how).Key == want }}
				g.glue(nil)
				if all++; !is {
					not++
				}
			}
		}
	})
	return all, not
}

// What two processes of a state can reach is among what is glued of their views. Without any of the rules it is not.
func TestGluingMakesWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		protocolCase
		n    int
		need []int // rules without which something is not made
	}{
		{caseOf(t, "flock, not compared; unlink, close"), 2, []int{1, 2, 3}},
		{caseOf(t, "dead: unlink under a guard after a second look"), 2, []int{3}},
		{rememberedPid(), 3, []int{3, 4}},
	} {
		for without := range 5 {
			all, not := made(allTold(t, c.scenario()), c.n, without)
			require.NotZero(t, all)
			require.Equal(t, slices.Contains(c.need, without), not > 0, "%s, rule %d: %d of %d", c.name,
				without, not, all)
		}
	}
}

func caseOf(t *testing.T, name string) protocolCase {
	for _, c := range protocolCases() {
		if c.name == name {
			return c
		}
	}
	t.Fatal(name)
	return protocolCase{}
}

// allTold is the system of a scenario whose program is told all that it may look at.
func allTold(t *testing.T, sc *scenarios.Scenario) *System {
	s, err := New(sc)
	require.NoError(t, err)
	s.names, s.sizes, s.makers = true, true, true
	return s
}
