package discipline_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/discipline"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

var drawn = flag.Int("discipline.drawn", 0, "how many drawn programs are asked, if not as many as is usual")

// A drawing is a program that counts in a file, as statements by name: those before it has the lock, how it takes it,
// those with the lock, how it lets go, and those afterwards.
type drawing struct {
	before, inside, after []string
	lock                  string
}

// statements are what may stand before, inside and after.
var statements = []string{"stat n", "stat l", "open n", "fstat", "end", "read", "read", "write", "put", "rename",
	"if empty", "if there", "flag", "unlock", "relock", "stop if empty", "make"}

// draw draws a program, most of the time one that is right but for a mistake or two.
func draw(r *rand.Rand) drawing {
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	d := drawing{inside: []string{"read", one("write", "write", "put", "rename")}}
	d.lock = one("flock l", "flock l", "flock n", "flock n", "try l", "try l, gives up", "try l, goes on", "excl", "excl",
		"mkdir", "looks, then makes", "none")
	some := func(list []string, most int) []string {
		for range r.IntN(most + 1) {
			list = slices.Insert(list, r.IntN(len(list)+1), statements[r.IntN(len(statements))])
		}
		return list
	}
	d.before, d.inside, d.after = some(nil, 2), some(d.inside, 1), some(nil, 1)
	if r.IntN(3) == 0 {
		d.before = append(d.before, one("stat n", "fstat", "stat l", "end"))
		d.inside = append(d.inside, one("if empty", "if there", "stop if empty"), "write")
	}
	return d
}

func (d drawing) String() string {
	return fmt.Sprintf("%q %s %q %q", d.before, d.lock, d.inside, d.after)
}

// A running is a drawn program that runs.
type running struct {
	t                    *scenarios.Task
	n, lock              *fsfake.File
	x, extra             int
	empty, there, byName bool
	kind                 string
}

const counted, locked = "/tmp/n", "/tmp/l"

func (d drawing) run(t *scenarios.Task) {
	r := &running{t: t}
	for _, s := range d.before {
		if !r.does(s) {
			return
		}
	}
	if r.kind = d.lock; !r.takes() {
		return
	}
	for _, s := range d.inside {
		if !r.does(s) {
			break
		}
	}
	r.letsGo()
	for _, s := range d.after {
		if !r.does(s) {
			return
		}
	}
}

// does makes a statement, and reports whether the program goes on.
func (r *running) does(s string) bool {
	t := r.t
	switch s {
	case "stat n":
		info, err := t.Stat(counted)
		r.empty = err != nil || info.Size() == 0
	case "stat l":
		_, err := t.Stat(locked)
		r.there = err == nil
	case "open n":
		r.opens()
	case "fstat":
		if r.opens() {
			info, err := r.n.Stat()
			r.empty = err != nil || info.Size() == 0
		}
	case "end":
		if r.opens() {
			n, err := r.n.Seek(0, 2)
			r.empty = err != nil || n == 0
		}
	case "read":
		text, _ := t.ReadFile(counted)
		r.x = strings.Count(string(text), "i")
	case "write":
		_ = t.WriteFile(counted, r.text(), 0o644)
	case "put":
		if r.opens() {
			_, _ = r.n.WriteAt(r.text(), 0)
		}
	case "rename":
		_ = t.WriteFile("/tmp/new", r.text(), 0o644)
		_ = t.Rename("/tmp/new", counted)
	case "if empty":
		if r.empty {
			r.extra = 1
		}
	case "if there":
		if r.there {
			r.extra = 1
		}
	case "flag":
		_ = t.WriteFile("/tmp/flag", nil, 0o644)
	case "unlock":
		r.letsGo()
	case "relock":
		return r.takes()
	case "stop if empty":
		return !r.empty
	case "make":
		if f, err := t.OpenFile(locked, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
			_ = f.Close()
		}
	}
	return true
}

func (r *running) text() []byte { return []byte(strings.Repeat("i", r.x+1+r.extra)) }

func (r *running) opens() bool {
	if r.n == nil {
		r.n, _ = r.t.OpenFile(counted, os.O_RDWR, 0)
	}
	return r.n != nil
}

// takes takes the lock, and reports whether the program goes on.
func (r *running) takes() bool {
	t := r.t
	switch r.kind {
	case "flock n":
		if !r.opens() {
			return false
		}
		r.lock = r.n
		return r.lock.Flock(fsfake.LOCK_EX) == nil
	case "flock l":
		r.lock, _ = t.OpenFile(locked, os.O_RDWR|os.O_CREATE, 0o644)
		return r.lock.Flock(fsfake.LOCK_EX) == nil
	case "try l", "try l, gives up", "try l, goes on":
		r.lock, _ = t.OpenFile(locked, os.O_RDWR|os.O_CREATE, 0o644)
		for retry := t.Retry(); retry.Next(); {
			if err := r.lock.Flock(fsfake.LOCK_EX | fsfake.LOCK_NB); err == nil || r.kind == "try l, goes on" {
				return true
			} else if r.kind == "try l, gives up" {
				return false
			}
		}
	case "excl", "mkdir", "looks, then makes":
		r.byName = true
		for retry := t.Retry(); retry.Next(); {
			if r.kind == "mkdir" {
				if t.Mkdir(locked, 0o755) == nil {
					return true
				}
				continue
			}
			flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
			if r.kind != "excl" {
				if _, err := t.Stat(locked); err == nil {
					continue
				}
				flags &^= os.O_EXCL
			}
			if f, err := t.OpenFile(locked, flags, 0o644); err == nil {
				_ = f.Close()
				return true
			}
		}
	}
	return true
}

func (r *running) letsGo() {
	switch {
	case r.kind == "none":
	case r.byName && r.kind == "mkdir":
		_ = r.t.Rmdir(locked)
	case r.byName:
		_ = r.t.Unlink(locked)
	case r.lock != nil:
		_ = r.lock.Flock(fsfake.LOCK_UN)
	}
}

// No drawn program that two or three copies break is proved, and some of those that none break are.
//
//	go test ./checker/internal/discipline -run TestNoBrokenDrawingIsProved -discipline.drawn 20000 -timeout 0
func TestNoBrokenDrawingIsProved(t *testing.T) {
	n := *drawn
	if n == 0 {
		n = testmain.Many(30, 80, 1000)
	}
	proved := 0
	for seed := range n {
		d := draw(rand.New(rand.NewPCG(uint64(seed), 31)))
		proof, err := discipline.ProveFew(t.Context(), d.scenario(2), 5)
		if err != nil {
			require.ErrorAs(t, err, new(discipline.NotProved), d)
			continue
		}
		proved++
		for procs := 2; procs <= 3; procs++ {
			for _, p := range []*scenarios.Property{scenarios.Serializable, scenarios.Deadlock} {
				r, err := checker.Check(t.Context(), d.scenario(procs), p,
					checker.Options{States: 20_000, SkipOdds: true, Workers: 1})
				require.NoError(t, err, d)
				require.NotEqual(t, checker.Broken, r.Verdict, "seed %d, %d copies of %v break %s, and it is proved: %+v", seed,
					procs, d, p, proof)
			}
		}
	}
	t.Logf("%d of %d proved", proved, n)
	require.Positive(t, proved)
}

func (d drawing) scenario(n int) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID: "drawn/keeps/lock", Summary: d.String(), Setting: scenarios.Setting{Processes: n},
		Setup:   func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile(counted, []byte("i"), 0o644) },
		Program: func(int, int) scenarios.Program { return d.run },
		Claims: []scenarios.Claim{{Property: scenarios.Serializable, Verdict: scenarios.Holds},
			{Property: scenarios.Deadlock, Verdict: scenarios.Holds}},
	}
}

// No two drawn programs that break when one of them runs twice are proved, and some of those that do not are.
func TestNoBrokenPairIsProved(t *testing.T) {
	n := *drawn
	if n == 0 {
		n = testmain.Many(60, 150, 2000)
	}
	proved := 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 32))
		a, b := draw(r), draw(r)
		if r.IntN(3) > 0 {
			b.lock = a.lock
		}
		proof, err := discipline.ProveFew(t.Context(), pair(a, b, a, b), 3)
		if err != nil {
			require.ErrorAs(t, err, new(discipline.NotProved), a, b)
			continue
		}
		proved++
		for _, sc := range []*scenarios.Scenario{pair(a, b, a), pair(a, b, b)} {
			for _, p := range []*scenarios.Property{scenarios.Serializable, scenarios.Deadlock} {
				r, err := checker.Check(t.Context(), sc, p, checker.Options{States: 20_000, SkipOdds: true, Workers: 1})
				require.NoError(t, err, a, b)
				require.NotEqual(t, checker.Broken, r.Verdict, "seed %d: %s break %s, and it is proved: %+v", seed,
					sc.Summary, p, proof)
			}
		}
	}
	t.Logf("%d of %d proved", proved, n)
	require.Positive(t, proved)
}

// Of commands that take one lock in different ways none is proved, for one way need not keep the other out.
func TestWaysToTakeALockAreNotMixed(t *testing.T) {
	ways := []string{"flock l", "try l", "try l, gives up", "excl", "mkdir"}
	for i, a := range ways {
		for j, b := range ways {
			of := func(lock string) drawing { return drawing{lock: lock, inside: []string{"read", "write"}} }
			proof, err := discipline.ProveFew(t.Context(), pair(of(a), of(b), of(a), of(b)), 3)
			if i == j && a != "try l, gives up" {
				require.NoError(t, err, a)
				require.Equal(t, 3, proof.Few)
				continue
			}
			require.ErrorAs(t, err, new(discipline.NotProved), "%s beside %s", a, b)
		}
	}
}

// pair is a scenario of processes that run two programs.
func pair(of ...drawing) *scenarios.Scenario {
	sc := of[0].scenario(len(of))
	sc.Summary = fmt.Sprint(of)
	sc.Program = func(process, _ int) scenarios.Program { return of[process].run }
	if len(of) == 4 {
		sc.Same = func(process int) int { return process % 2 }
	}
	return sc
}
