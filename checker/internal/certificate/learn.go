package certificate

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A node is where the program is after some answers: path are the nodes on the way, itself included. It was told of so
// many others on the way, and knows the numbers of these files.
type node struct {
	call
	answers []fsfake.Result
	path    []uint32
	told    int
	knows   uint64
}

// A step is an answer in a node, where an edge begins.
type step struct {
	from   uint32
	answer fsfake.Result
}

// An edge leads on, or back to the top of a retry loop. again: what begins at the top has begun already.
type edge struct {
	Edge
	call
	again bool
}

// ended is the node of a program that has ended, all the set of all numbers.
const (
	ended = 1
	all   = ^uint64(0)
)

// The pids under which each path is run: 101 itself, all pids the other way round, and that of each other process.
func same(pid int) int     { return pid }
func reversed(pid int) int { return 2*low + 25 - pid }

// swapped has process 101 and the one so many places further on change places.
func swapped(by int) func(int) int {
	return func(pid int) int {
		switch pid {
		case low:
			return low + by
		case low + by:
			return low
		}
		return pid
	}
}

// learn runs the program along each edge of the file. What it does there is what the file says, or there is no proof.
func (v *verifier) learn() {
	first := v.run(nil)
	if len(first) != 1 || first[0].ended || first[0].holds || first[0].failed || first[0].strange != "" {
		v.no("the program begins with what views do not have")
		return
	}
	v.arrive(v.file.Start, &node{call: first[0], path: []uint32{v.file.Start}})
	for _, e := range v.file.edges {
		if v.nodes[e.From] == nil || v.why != "" {
			v.no("an edge begins in node %d, and none before leads there", e.From)
			return
		}
		v.along(e, v.nodes[e.From])
	}
}

// along runs the program along an edge.
func (v *verifier) along(e Edge, from *node) {
	n := &node{answers: append(slices.Clone(from.answers), e.Answer), path: append(slices.Clone(from.path), e.To),
		told: from.told, knows: from.knows}
	calls := v.run(n.answers)
	if len(calls) != len(n.answers)+1 {
		v.no("the program ends before the edge from node %d", e.From)
		return
	}
	for i, at := range from.path {
		if calls[i] != v.nodes[at].call {
			v.no("the program is not a function of the answers to its calls")
		}
	}
	n.call = calls[len(calls)-1]
	retold(from.op.Call, e.Answer, func(pid int) int {
		n.told = max(n.told, pid-low)
		return pid
	})
	if ino := e.Answer.Stat.Ino; ino > 64 {
		n.knows = all
	} else if ino > 0 {
		n.knows |= 1 << (ino - 1)
	}
	v.looksAtTime(n.dated)
	if n.strange != "" && (n.strange != sizeSeen || !v.file.Sizes) {
		v.no("%s", n.strange)
	}
	is := &edge{Edge: e, call: n.call}
	switch top := v.nodes[e.To]; {
	case n.call.again != 0:
		if !slices.Contains(from.path, e.To) || n.op != top.op || n.call.ended ||
			!strings.Contains(top.begun, fmt.Sprintf(" %d ", n.call.again)) ||
			n.invoked && (!top.invoked || n.letGo != top.letGo || n.lock != top.lock) {
			v.no("the edge from node %d leads to no top of the loop of which a round begins", e.From)
		}
		is.again = top != nil && top.invoked && !n.invoked
	case n.call.ended != (e.To == ended) || top != nil:
		v.no("the edge from node %d to node %d leads elsewhere", e.From, e.To)
	case !n.call.ended:
		v.arrive(e.To, n)
	}
	v.edges[step{e.From, e.Answer}] = is
}

// run runs the program as process 101, as others, and where files have other times and numbers. It must do the same.
func (v *verifier) run(answers []fsfake.Result) []call {
	was := v.calls(answers, same, plain)
	alike := func(to func(int) int, show shown) {
		if !slices.Equal(was, v.calls(answers, to, show)) {
			v.no("the program does something else under another pid, or where files have other times and numbers")
		}
	}
	alike(reversed, plain)
	for by := 1; by < 26; by++ {
		alike(swapped(by), plain)
	}
	for _, show := range []shown{later, earlier, waited, renumbered} {
		alike(same, show)
	}
	return was
}

// A shown changes what the answer to call number i shows. Where changes show in file times, these differ by nanoseconds
// and are in another order; inode numbers are of any size.
type shown func(i int64, r *fsfake.Result, now bool)

func plain(int64, *fsfake.Result, bool) {}

func later(i int64, r *fsfake.Result, now bool) {
	waited(i, r, now)
	dated(r, 4*i)
}

func earlier(i int64, r *fsfake.Result, _ bool) { dated(r, -4*i) }

func waited(i int64, r *fsfake.Result, now bool) {
	if now {
		r.N += 4 * i
	}
}

func dated(r *fsfake.Result, by int64) {
	if st := &r.Stat; st.Ino != 0 {
		st.Btime, st.Atime, st.Mtime, st.Ctime = st.Btime+by, st.Atime+by+1, st.Mtime+by+2, st.Ctime+by+3
	}
}

func renumbered(_ int64, r *fsfake.Result, _ bool) {
	if r.Stat.Ino != 0 {
		r.Stat.Ino = 1<<20 - r.Stat.Ino
	}
}

// looksAtTime refuses programs for which time passes: who looks at it must not sleep, nor have changes that are apart.
func (v *verifier) looksAtTime(is bool) {
	v.looks = v.looks || is
	times := v.sc.Setting.Assumed().Times
	if v.looks && (v.sleeps || times != scenarios.TimesOpen && times != scenarios.TimesShared) {
		v.no("the program looks at the clock or a file time, and time passes")
	}
}

// arrive adds a node, unless its call asks for what views do not have.
func (v *verifier) arrive(id uint32, n *node) {
	v.nodes[id] = n
	op := n.op
	v.lists = v.lists || op.Call == fsfake.CallReaddir
	v.sleeps = v.sleeps || op.Call == fsfake.CallSleep
	v.looksAtTime(op.Call == fsfake.CallNow)
	flock, record := op.Call == fsfake.CallFlock, op.Call.Is(fsfake.Locks) && op.Call.Is(fsfake.Records)
	if !op.Viewed() ||
		flock && op.Flags&fsfake.LOCK_SH != 0 || record && op.Flags == fsfake.F_RDLCK {
		v.no("%s asks for more than views have", op)
	}
	if slices.ContainsFunc(pids(op.Path+" "+op.Path2), func(p int) bool { return p != low }) {
		v.no("a name holds the pid of another process: %s", op)
	}
}

// rounds is how often each round of a loop is tried out.
const rounds = 10

// loops tries out that rounds of retry loops carry nothing over: after some more rounds, each edge is as it was.
func (v *verifier) loops() {
	for _, b := range v.file.edges {
		back := v.edges[step{b.From, b.Answer}]
		if back.call.again == 0 {
			continue
		}
		top := v.nodes[b.To]
		round := append(slices.Clone(v.nodes[b.From].answers), b.Answer)[len(top.answers):]
		for _, e := range v.file.edges {
			from := v.nodes[e.From]
			if !slices.Contains(from.path, b.To) {
				continue
			}
			answers := slices.Concat(top.answers, slices.Repeat(round, rounds), from.answers[len(top.answers):])
			calls := v.run(append(answers, e.Answer))
			if len(calls) != len(answers)+2 {
				v.no("the program ends after another round of a loop")
				return
			}
			first := []call{}
			for _, id := range from.path[len(top.path):] {
				first = append(first, v.nodes[id].call)
			}
			first = append(first, v.edges[step{e.From, e.Answer}].call)
			for i, is := range calls[len(calls)-len(first):] {
				was := first[i]
				is.again, was.again, is.begun, was.begun = 0, 0, "", "" // the numbers of loops differ
				if is != was {
					v.no("a round of a loop carries something over: first the program makes %s, and later %s", was.op, is.op)
				}
			}
		}
	}
}
