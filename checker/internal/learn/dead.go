package learn

import (
	"math/bits"

	"lockpick/fsfake"
)

// Inode numbers are there to be compared, and after its last comparison a number is dead: the program
// does the same whether the next file that it is shown is that one or another. Where nodes are merged,
// the machine forgets dead numbers and gives them to other files. Which are dead is a guess, too: a
// number is taken for dead at a class if no two results are known that differ in numbers of dead ones
// only, and after which the program goes on differently, there or later; and all are, where the
// program compares none from there on. As any guess it is verified before anything is concluded. That is done with
// numbers that mean the same file as long as the program runs: a node that is followed knows which
// numbers its class knows in place of its own ([standing]), and a number that the class has forgotten
// may be shown to it as the old file or as a new one. Both must do what the class does.
//
// Nothing is forgotten in this way of a program that gets hold of a number itself and may have left it
// anywhere, nor of a process of several tasks, which share the numbers.

// names are the numbers that a class has in place of a node's own: that of n at n-1, and 0 where the
// class has forgotten it.
type names [64]uint8

// A standing is where the merged automaton is after the results that lead to a node.
type standing struct {
	class uint32
	names names
}

// taken are the numbers of the class that stand for one of the node's.
func (n *names) taken() (t Numbers) {
	for _, j := range n {
		if j != 0 {
			t |= 1 << (j - 1)
		}
	}
	return t
}

// free is the number that the machine gives a file that the class does not know; more than 64 for none.
func (n *names) free() uint64 { return n.taken().lowestFree() }

// lowestFree is the lowest number that is not in the set; 65 for none.
func (n Numbers) lowestFree() uint64 { return uint64(bits.TrailingZeros64(uint64(^n))) + 1 }

// has reports whether a number is in the set.
func (n Numbers) has(i uint64) bool { return i > 0 && i <= 64 && n>>(i-1)&1 == 1 }

// after is what stands after a result, told to the node and to the class, if the class then forgets
// all but keep.
func (s *standing) after(own, told *fsfake.Result, keep Numbers) names {
	n := s.names
	if i := own.Stat.Ino; i != 0 {
		n[i-1] = uint8(told.Stat.Ino)
	}
	for i, j := range n {
		if !keep.has(uint64(j)) {
			n[i] = 0
		}
	}
	return n
}

// asTold returns a result that a node is told as its class would be told it; nil where numbers have
// run out.
func (a *Automaton) asTold(s *standing, r *fsfake.Result) *fsfake.Result {
	i := r.Stat.Ino
	if i == 0 {
		return r
	}
	if i > 64 {
		return nil
	}
	j := uint64(s.names[i-1])
	if j == 0 {
		j = s.names.free()
	}
	return a.numbered(r, j)
}

// numbered is a result with another inode number; nil where there is none.
func (a *Automaton) numbered(r *fsfake.Result, ino uint64) *fsfake.Result {
	if ino == r.Stat.Ino {
		return r
	}
	if ino > 64 {
		return nil
	}
	other := *r
	other.Stat.Ino = ino
	return a.Intern(other)
}

// possible lists the results that a node may be told where its class is told one of results: each
// with every number that stands for the class's.
func (a *Automaton) possible(n uint32, results map[uint32][]*fsfake.Result) (all []*fsfake.Result) {
	s := a.merged.standing[n]
	if !a.merged.forgets {
		return results[s.class]
	}
	taken, knows := s.names.taken(), a.nodes[n].Knows
	for _, r := range results[s.class] {
		j := r.Stat.Ino
		fresh := j == taken.lowestFree()
		if j == 0 {
			all = append(all, r)
		}
		for i := uint64(1); j != 0 && i <= 64; i++ {
			stands := uint64(s.names[i-1]) == j
			forgotten := s.names[i-1] == 0 && (knows.has(i) || i == knows.lowestFree())
			if stands || fresh && forgotten {
				all = append(all, a.numbered(r, i))
			}
		}
	}
	return all
}

// mayForget reports whether everything that is known of the program allows to forget numbers.
func (a *Automaton) mayForget() bool {
	if a.external || !a.alone {
		return false
	}
	for i := range a.nodes {
		if a.nodes[i].Knows == All {
			return false
		}
	}
	for _, k := range a.order {
		if e := a.edges[k]; e.Effects.NumberSeen {
			return false
		}
	}
	return true
}

// knownToClass are the numbers that a class keeps.
func (a *Automaton) knownToClass(c uint32) Numbers {
	if int(c) < len(a.merged.knows) {
		return a.merged.knows[c]
	}
	return a.nodes[c].Knows
}

// drop takes from what each class knows the numbers that are guessed to be dead there, and reports
// whether there are any before the program's end.
func (m *merging) drop(a *Automaton) (any bool) {
	d := newDropper(m, a)
	for n, c := range m.of { // a class can need no number that one of its nodes does not know
		m.knows[c] &= a.nodes[n].Knows
	}
	for c := range m.knows {
		if m.of[c] != uint32(c) || m.knows[c] == 0 {
			continue
		}
		live := Numbers(0)
		if d.looks[c] {
			live = d.live(uint32(c))
		}
		any = any || live != m.knows[c] && c > Start
		m.knows[c] = live
	}
	return any
}

// A dropper guesses which numbers are dead.
type dropper struct {
	m     *merging
	a     *Automaton
	out   map[uint32][]shown // by class
	looks []bool             // by class: a number may be looked at from here on
	// like is what was found out of pairs; left is how many may still be looked at.
	like map[pair]bool
	left int
}

// A shown is an edge out of a class by a result that shows a number, or none.
type shown struct {
	shape int // of the result but for the number
	ino   uint64
	edge  Edge
}

// A pair is two classes, and the numbers of the second that are those of the first.
type pair struct {
	x, y uint32
	as   names
}

// maxPairs bounds how many pairs are compared; numbers that are left then are taken to be needed.
const maxPairs = 100_000

func newDropper(m *merging, a *Automaton) *dropper {
	d := &dropper{m: m, a: a, out: map[uint32][]shown{}, looks: make([]bool, len(a.nodes)), like: map[pair]bool{}, left: maxPairs}
	shapes := map[fsfake.Result]int{}
	seen := map[edgeKey]bool{}
	for _, k := range a.order {
		key := edgeKey{m.of[k.from], k.result}
		if seen[key] {
			continue
		}
		seen[key] = true
		shape := *k.result
		shape.Stat.Ino = 0
		n, ok := shapes[shape]
		if !ok {
			n = len(shapes)
			shapes[shape] = n
		}
		d.out[key.from] = append(d.out[key.from], shown{n, k.result.Stat.Ino, m.edges[key]})
	}
	for more := true; more; {
		more = false
		for i := len(a.order) - 1; i >= 0; i-- {
			k := a.order[i]
			from, e := m.of[k.from], a.edges[k]
			if !d.looks[from] && (e.Effects.InodeSeen || d.looks[m.of[e.To&^Begun]]) {
				d.looks[from], more = true, true
			}
		}
	}
	return d
}

// live are the numbers of a class without which something goes on differently.
func (d *dropper) live(c uint32) Numbers {
	live := d.m.knows[c]
	for i := uint64(1); i <= 64; i++ {
		if without := live &^ (1 << (i - 1)); live.has(i) && d.alike(pair{c, c, without.names()}) {
			live = without
		}
	}
	return live
}

// names has each number of a set stand for itself.
func (n Numbers) names() (as names) {
	for i := range as {
		if n.has(uint64(i + 1)) {
			as[i] = uint8(i + 1)
		}
	}
	return as
}

// alike reports whether nothing is known in which two classes differ.
func (d *dropper) alike(first pair) bool {
	if like, ok := d.like[first]; ok {
		return like
	}
	met := map[pair]bool{first: true}
	for todo := []pair{first}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, ok := d.follow(p)
		if d.left -= 1 + len(next); !ok || d.left < 0 {
			d.like[first] = false
			return false
		}
		for _, q := range next {
			if like, known := d.like[q]; known && !like {
				d.like[first] = false
				return false
			} else if !known && !met[q] {
				met[q] = true
				todo = append(todo, q)
			}
		}
	}
	for p := range met { // order does not matter: all are alike
		d.like[p] = true
	}
	return true
}

// follow compares what is known of two classes, and returns the pairs that follow.
func (d *dropper) follow(p pair) (next []pair, alike bool) {
	if !sameLabel(d.a, p.x, p.y) {
		return nil, false
	}
	taken := p.as.taken()
	for _, e := range d.out[p.x] {
		for _, f := range d.out[p.y] {
			as, both := p.as, e.shape == f.shape
			switch {
			case !both:
				continue
			case e.ino == 0 || f.ino == 0:
				both = e.ino == f.ino
			case as[e.ino-1] != 0:
				both = uint64(as[e.ino-1]) == f.ino
			default:
				both = !taken.has(f.ino)
				as[e.ino-1] = uint8(f.ino)
			}
			if !both {
				continue
			}
			x, y := e.edge, f.edge
			if x.Effects != y.Effects || x.Input != y.Input || x.To&Begun != y.To&Begun {
				return nil, false
			}
			q := pair{x.To &^ Begun, y.To &^ Begun, as}
			if !d.looks[q.x] && !d.looks[q.y] {
				q.as = names{}
				if q.x == q.y {
					continue
				}
			}
			next = append(next, q)
		}
	}
	return next, true
}
