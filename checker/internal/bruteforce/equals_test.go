package bruteforce

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// DrawEqual returns the small protocol of equal processes with a number, of as many processes as a scenario may have:
// locks as people write them with statements struck out, doubled, swapped and put in, or calls on two names and one
// descriptor, one after the other.
func DrawEqual(seed uint64) *Protocol {
	d := &drawer{r: rand.New(rand.NewPCG(seed, 30)), anonymous: true, tasks: []int{1}}
	d.p = Protocol{Name: fmt.Sprintf("equal-%d", seed), Alike: true, Crashes: d.r.IntN(2)}
	body, release := d.acquisition()
	switch d.r.IntN(8) {
	case 0, 1:
		body, release = d.overDead(), []Stmt{{Do: Unlink, Path: lockPath}}
	case 6, 7:
		body, release = d.removed()
	case 2:
		body, release = d.calls(1+d.r.IntN(5), giveUp), d.calls(d.r.IntN(3), d.anything())
		body = append(body, one(d, bare, withFD))
	case 3:
		body = d.edit(body)
	}
	s := Stmt{Do: Acquire, Path: lockPath, Body: d.spoil(body), Release: d.spoil(release)}
	s.Else = one(d, nil, []Stmt{{Do: Work}})
	d.programs(func() []Stmt { return []Stmt{s} })
	if d.chance(4) {
		d.p.Files = append(d.p.Files, File{lockPath, ""})
	}
	d.p.Ask = []string{scenarios.MutualExclusion.ID}
	if !d.p.Pids {
		d.pids(rand.New(rand.NewPCG(seed, 31)))
	}
	d.p.Programs = slices.Repeat(d.p.Programs, scenarios.MaxProcesses)
	return &d.p
}

// overDead makes the lock, with a pid, or removes that of an owner who is dead, as it found it or under another name.
func (d *drawer) overDead() []Stmt {
	look := []Stmt{{Do: Open, Path: lockPath, Flags: Existing, Slot: 1}, {Do: Read, Slot: 1}, {Do: Alive}}
	unlink, mine := Stmt{Do: Unlink, Path: lockPath}, tempPath+"@"
	remove := one(d, []Stmt{unlink}, []Stmt{{Do: Same, Path: lockPath, Slot: 1}, then(IfOK, unlink)},
		[]Stmt{{Do: Rename, Path: lockPath, To: mine}, {Do: Unlink, Path: mine}}, append(look, then(IfNot, unlink)))
	fail := append(slices.Clone(look), then(IfNot, remove...), Stmt{Do: Close, Slot: 1}, giveUp)
	made := one(d, []Stmt{{Do: Open, Path: lockPath, Flags: Exclusive}, then(IfNot, fail...), {Do: Write, Text: "@"}},
		[]Stmt{{Do: Open, Path: mine, Flags: Exclusive}, {Do: Write, Text: "@"}, {Do: Link, Path: mine, To: lockPath},
			then(IfNot, fail...)})
	d.p.Pids = true
	return append(made, Stmt{Do: Close}, bare)
}

// removed locks a file that is removed with the lock, or looks whether it still has its name.
func (d *drawer) removed() (body, release []Stmt) {
	gone := one(d, []Stmt{{Do: Close}, giveUp}, []Stmt{giveUp}, nil)
	body = []Stmt{{Do: Open, Path: lockPath, Flags: Create}, {Do: Flock, Flags: fsfake.LOCK_EX}}
	body = append(body, one(d, nil, []Stmt{{Do: Stat, Path: lockPath}, then(IfNot, gone...)},
		[]Stmt{{Do: Same, Path: lockPath}, then(IfNot, gone...)})...)
	unlink := Stmt{Do: Unlink, Path: lockPath}
	return append(body, withFD), one(d, []Stmt{unlink, {Do: Close}}, []Stmt{{Do: Close}, unlink}, []Stmt{unlink})
}

// calls draws calls, after some of which something else follows if they fail, or if they do not.
func (d *drawer) calls(n int, otherwise Stmt) (body []Stmt) {
	for range n {
		path, other := one(d, lockPath, lockPath, tempPath), one(d, lockPath, tempPath)
		body = append(body, one(d,
			Stmt{Do: Open, Path: path, Flags: Exclusive},
			Stmt{Do: Open, Path: path, Flags: one(d, Create, Existing, Truncate)},
			Stmt{Do: Open, Path: path, Flags: Create}, Stmt{Do: Flock, Flags: fsfake.LOCK_EX},
			Stmt{Do: Flock, Flags: fsfake.LOCK_EX | fsfake.LOCK_NB}, Stmt{Do: Link, Path: path, To: other},
			Stmt{Do: Rename, Path: path, To: other}, Stmt{Do: Unlink, Path: path}, Stmt{Do: Stat, Path: path},
			Stmt{Do: Same, Path: path}, Stmt{Do: Write, Text: d.name()}, Stmt{Do: Read}, Stmt{Do: Close}))
		if d.chance(2) {
			body = append(body, then(one(d, IfNot, IfNot, IfOK, IfText), one(d, otherwise, otherwise, d.anything())))
		}
	}
	return body
}

// Breaks reports whether a schedule breaks a property, which it tries until it has stored limit states, in any order.
func Breaks(p *Protocol, property *scenarios.Property, limit int) (bool, error) {
	x, first, err := newSpace(p, property)
	if err != nil {
		return false, err
	}
	known, r := map[string]bool{x.key(first): true}, rand.New(rand.NewPCG(uint64(limit), 0))
	for work := []*state{first}; len(work) > 0 && len(known) < limit; {
		i := r.IntN(len(work))
		s := work[i]
		work[i] = work[len(work)-1]
		work = work[:len(work)-1]
		if is, err := x.badState(s, x.describe(s)); is || err != nil {
			return is, err
		}
		for _, c := range x.choices(s) {
			after, err := x.apply(s, c)
			if err != nil || after.bad {
				return after.bad, err
			}
			if key := x.key(after.to); !known[key] {
				known[key] = true
				work = append(work, after.to)
			}
		}
	}
	return false, nil
}
