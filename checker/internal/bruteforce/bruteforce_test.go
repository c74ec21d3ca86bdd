package bruteforce_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/bruteforce"
	"lockpick/internal/testmain"
)

var (
	protocols = flag.Int("bruteforce.protocols", 0, "how many protocols are compared, if not as many as is usual")
	firstSeed = flag.Uint64("bruteforce.seed", 1, "the number of the first")
	only      = flag.String("bruteforce.only", "", "compare only protocols with `WORD`: sleeps (they last, and somebody looks how old a file is), starts (tasks that others start), swaps (a compare-and-swap), skew (clocks that are apart), pids (in texts and names), back (a clock that is set back) or signals")
	save      = flag.String("bruteforce.save", "", "a directory for what was found, as in testdata")
)

// progressEach is after how many protocols a line says so.
const progressEach = 500

// maxStates is the size of space up to which protocols are compared.
const maxStates = 1000

// Every answer about drawn protocols is what brute force says.
//
//	go test ./checker/internal/bruteforce -bruteforce.protocols 100000 -timeout 0
func TestDrawnProtocols(t *testing.T) {
	n := *protocols
	if n == 0 {
		n = testmain.Many(10, 40, 400)
	}
	tally := tally{}
	failed, all := 0, n
	for seed := *firstSeed; n > 0; seed++ {
		p := bruteforce.Draw(seed)
		switch {
		case *only == "sleeps" && !p.ShowsSleeps(), *only == "starts" && p.Running == nil, *only == "swaps" && !p.Swaps(),
			*only == "skew" && p.Skew == nil, *only == "pids" && !p.Pids, *only == "signals" && p.Signals == 0,
			*only == "back" && p.StallFor >= 0:
			continue
		}
		small := false
		var tried checker.Tried
		for _, name := range p.Ask {
			c := comparison{p: p, name: name, seed: seed, tried: &tried}
			if err := c.run(context.Background()); err != nil {
				report(t, &c, err)
				if failed++; failed > 20 {
					t.Fatal("and so on")
				}
			}
			tally[c.outcome]++
			small = small || c.outcome != tooLarge
		}
		if small {
			n--
		}
		if done := all - n; small && done%progressEach == 0 { // so that a run that is cut off says how far it came
			fmt.Printf("%d of %d protocols compared, up to seed %d, %d differences\n", done, all, seed, failed)
		}
	}
	t.Log(tally)
	unbounded := 0
	for outcome, n := range tally {
		if strings.HasSuffix(outcome, unboundedStamps) {
			unbounded += n
		}
	}
	require.LessOrEqual(t, unbounded, 2+all/100, "an unknown is to be rare")
}

// Protocols on which there was a difference once, made smaller.
func TestFoundProtocols(t *testing.T) {
	testmain.Slow(t, "it compares protocols whose traps take long", "./checker/internal/bruteforce")
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var p bruteforce.Protocol
			require.NoError(t, json.Unmarshal(text, &p))
			for _, name := range p.Ask {
				c := comparison{p: &p, name: name}
				require.NoError(t, c.run(context.Background()))
				require.NotEqual(t, tooLarge, c.outcome)
			}
		})
	}
}

// report fails the test with the smallest protocol on which there is a difference too.
func report(t *testing.T, c *comparison, err error) {
	fmt.Printf("seed %d, %s: %v\n", c.seed, c.name, err) // at once, as making it smaller can take minutes
	last := err
	tries := 0
	smallest := bruteforce.Shrink(c.p, func(q *bruteforce.Protocol) (still bool) {
		defer func() { still = still && recover() == nil }() // a body that makes no sense any more
		if tries++; tries > 3000 {
			return false
		}
		d := comparison{p: q, name: c.name, seed: c.seed}
		err := d.run(context.Background())
		if still = d.differs(err); still {
			last = err
		}
		return still
	})
	t.Errorf("seed %d, %s: %v\nmade smaller: %v\n%s", c.seed, c.name, err, last, smallest)
	if *save != "" {
		smallest.Ask = []string{c.name}
		text, err := json.MarshalIndent(smallest, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*save, fmt.Sprintf("%s-%s.json", smallest.Name, c.name)), append(text, '\n'), 0o644))
	}
}

// A tally counts outcomes.
type tally map[string]int

func (t tally) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "\n%6d %s", t[k], k)
	}
	return b.String()
}
