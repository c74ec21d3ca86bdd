package bruteforce_test

import (
	"context"
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/anynumber"
	"lockpick/checker/internal/bruteforce"
	"lockpick/checker/internal/certificate"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

var unbounded = flag.Int("bruteforce.anynumber", 0, "how many drawn protocols of equal processes are asked for any "+
	"number of them, if not as many as is usual")

// What is proved for any number of processes, brute force does not break with up to four, each of which may be killed
// if one may.
//
//	go test ./checker/internal/bruteforce -run TestProofsAreSound -bruteforce.anynumber 100000 -timeout 0
func TestProofsAreSound(t *testing.T) {
	n := *unbounded
	if n == 0 {
		n = testmain.Many(6, 15, 120)
	}
	proved, refuted, notProved, verified := 0, 0, 0, 0
	for seed := *firstSeed; n > 0; seed++ {
		p := bruteforce.Draw(seed)
		if !p.Alike || len(p.Programs[0]) != 1 {
			continue
		}
		p.Programs = slices.Repeat(p.Programs[:1], scenarios.MaxProcesses)
		p.Stalls, p.Failing, p.Punctual, p.Skew, p.Lasts, p.Mortal, p.Handlers, p.Signals = 0, 0, nil, nil, false, nil, nil, 0
		p.Ask = slices.DeleteFunc(p.Ask, func(name string) bool {
			return name != "mutual-exclusion" &&
				name != "foreign-release"
		})
		if len(p.Ask) == 0 {
			continue
		}
		n--
		sc := p.Scenario()
		sc.Setting.Fixed, sc.Setting.Tasks, sc.Setting.Processes = false, nil, 2 // they are equal
		for _, claim := range sc.Claims {
			holds := false
			for _, how := range anynumber.Hows()[:3] {
				s, err := anynumber.New(sc)
				if err != nil {
					break
				}
				proof, out, err := s.Prove(context.Background(), claim.Property, how, 4000)
				if holds = err == nil && out == anynumber.Proved; holds {
					why, written := verify(t, s, proof, sc, claim.Property)
					require.Empty(t, why, "%s is proved, and not verified: %s\n%s", claim.Property, p.Name, p)
					verified += written
				}
				if holds || err != nil {
					break
				}
			}
			broken := false
			for few := 2; few <= 4 && !broken; few++ {
				q := *p
				if q.Programs = p.Programs[:few]; q.Crashes > 0 {
					q.Crashes = few
				}
				a, err := bruteforce.Solve(&q, claim.Property, 4000)
				if err != nil {
					break
				}
				broken = a.Broken
			}
			if broken {
				blind(t, sc, claim.Property)
			}
			switch {
			case holds:
				proved++
				require.False(t, broken, "%s is proved, and broken: %s\n%s", claim.Property, p.Name, p)
			case broken:
				refuted++
			default:
				notProved++
			}
		}
	}
	t.Logf("%d proved, %d of them verified, %d broken with up to 4, %d neither", proved, verified, refuted, notProved)
	require.Positive(t, proved)
	require.Positive(t, refuted)
}

// No protocol that brute force breaks with up to four processes is proved. Those that are refused do not count.
// Without a rule of the gluing one is: locks whose file is removed, for rules 1 and 3.
//
//	LOCKPICK_LONG=1 go test ./checker/internal/bruteforce -run TestNoBrokenProtocolIsProved -timeout 0
func TestNoBrokenProtocolIsProved(t *testing.T) {
	broken, refused, asked, few := 0, 0, 0, [5]int{}
	for seed := *firstSeed; broken < testmain.Many(20, 50, 5000); seed++ {
		p := bruteforce.DrawEqual(seed)
		n := breaks(p, scenarios.MutualExclusion)
		asked++
		if n == 0 {
			continue
		}
		sc := p.Scenario()
		sc.Setting.Fixed, sc.Setting.Tasks, sc.Setting.Processes = false, nil, 2
		for i, how := range anynumber.Hows()[:3] {
			s, err := anynumber.New(sc)
			var proof *anynumber.Proof
			if err == nil {
				proof, _, err = s.Prove(t.Context(), scenarios.MutualExclusion, how, 2000)
			}
			if i == 0 && err != nil {
				require.ErrorAs(t, err, new(anynumber.Refused))
				refused++
				break
			}
			require.Nil(t, proof, "%+v: proved, and broken with %d: %s", how, n, p)
			if i == 0 {
				broken++
				few[n]++
			}
		}
	}
	t.Logf("%d drawn, %d broken (%d with 2, %d with 3, %d with 4 only) and none of them proved, %d broken and refused",
		asked, broken, few[2], few[3], few[4], refused)
	require.Positive(t, few[3])
}

// breaks returns how many processes break a property, at most four; 0 if none is known.
func breaks(p *bruteforce.Protocol, property *scenarios.Property) int {
	for n := 2; n <= 4; n++ {
		q := *p
		if q.Programs = p.Programs[:n]; q.Crashes > 0 {
			q.Crashes = n
		}
		states := testmain.Many(400, 400, 800)
		if n == 2 {
			states /= 2
		}
		if is, err := bruteforce.Breaks(&q, property, states); is || err != nil {
			return map[bool]int{true: n}[err == nil]
		}
	}
	return 0
}

// verify says why the certificate of a proof is none, and whether there is one.
func verify(t *testing.T, s *anynumber.System, proof *anynumber.Proof, sc *scenarios.Scenario, p *scenarios.Property) (
	why string, written int) {
	text, err := s.Certificate(p, proof)
	if err != nil {
		require.ErrorAs(t, err, new(anynumber.Refused))
		return "", 0
	}
	f, err := certificate.Read(text)
	require.NoError(t, err)
	return f.Verify(context.Background(), sc, p).Why, 1
}

// blind has all views of what is broken written down, as if nothing were bad: that is no proof.
func blind(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) {
	for _, how := range anynumber.Hows()[:3] {
		s, err := anynumber.New(sc)
		if err != nil {
			return
		}
		other := *p
		other.Shows = scenarios.InAStep // of which there is none
		proof, out, err := s.Prove(context.Background(), &other, how, 4000)
		if err != nil || out != anynumber.Proved {
			return
		}
		why, written := verify(t, s, proof, sc, p)
		require.True(t, why != "" || written == 0, "%s is broken, and verified: %s", p, sc.ID)
	}
}
