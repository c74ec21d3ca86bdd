package learn

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A real program does not mark its retry loops. They are found: where the last calls and
// their results are those of the calls before them, once more, the next call may be the top
// of a round that could be repeated for ever. The program is then given that round's results
// again and again; only if it makes the round's calls each time are the two places one.
//
// A round after which the program remembers what it remembered after an earlier one goes on for ever. Where that
// is not seen, the program is given [ExternalRounds] of it at once, and [LateRounds] before anything is
// concluded ([Automaton.Outlast]): what gives up later counts as endless, and the verdict says so.
//
// A round that does not sleep must have come [busyRounds] times in a row, and ask again for what another may change:
// programs write long texts piece by piece, and look at one directory for each of their modules.

// busyRounds is how many equal rounds in a row make a busy loop, and busyCalls how many calls a round
// of one has at most.
const busyRounds, busyCalls = 6, 48

// roundTop returns the node that a place with a pending call is merged with, if it is the
// top of a further round: path leads to the node before it, result is what led on from there.
func (a *Automaton) roundTop(path []uint32, result *fsfake.Result, op fsfake.Op, eff Effects) (uint32, bool) {
	slept := a.lastSleep(path)
	if slept < 0 {
		path = path[max(0, len(path)-busyRounds*busyCalls):]
	}
	results := make([]*fsfake.Result, len(path)) // what each node's call answered
	for i := range path {
		results[i] = result
		if i+1 < len(path) {
			results[i] = a.nodes[path[i+1]].via
		}
	}
	size, rounds := len(path)-slept, 2
	if slept < 0 {
		size, rounds = 1, busyRounds
	}
	for ; rounds*size <= len(path); size++ {
		first := path[len(path)-size] // of the round that has just ended
		if top := &a.nodes[first]; top.Op != op || top.Begins != eff || first == Start {
			continue
		}
		if a.repeats(path, results, size, rounds) {
			from := len(path) - size
			return first, slept >= 0 || a.busy(path[from:], results[from:])
		}
	}
	return 0, false
}

// repeats reports whether the last calls, so many, and their results came so many times in a row.
func (a *Automaton) repeats(path []uint32, results []*fsfake.Result, size, rounds int) bool {
	for i := len(path) - 1; i >= len(path)-size*(rounds-1); i-- {
		x, y := &a.nodes[path[i]], &a.nodes[path[i-size]]
		if x.Op != y.Op || *results[i] != *results[i-size] || i > len(path)-size && x.Begins != y.Begins {
			return false
		}
	}
	return true
}

// busy reports whether a round that does not sleep waits for another: it starts a program, or is told that something is
// taken, or looks at a file. It reads and writes only what it has opened.
func (a *Automaton) busy(round []uint32, results []*fsfake.Result) (waits bool) {
	opened := map[int64]bool{}
	for i, id := range round {
		op, r := &a.nodes[id].Op, results[i]
		switch {
		case op.Call.Is(fsfake.Reads|fsfake.Writes) && !opened[int64(op.FD)]:
			return false
		case op.Call == fsfake.CallOpen && r.OK():
			opened[r.N] = true
		case op.Call == fsfake.CallForkAs, r.Errno == syscall.EEXIST, r.Errno == syscall.EAGAIN,
			r.Stat.Mode.IsRegular() && r.Stat.Nlink > 0:
			waits = true
		}
	}
	return waits
}

// lastSleep returns where on a path the program slept last, or -1. Only a round that reaches back to there
// gives way: one that does not may be a long text that is written piece by piece. Such a text has no sleep at
// all, and nothing of it need be compared.
func (a *Automaton) lastSleep(path []uint32) int {
	for i, id := range slices.Backward(path) {
		if a.nodes[id].Op.Call == fsfake.CallSleep {
			return i
		}
	}
	return -1
}

// endless reports whether a program goes round for ever, as far as it was tried: code is at the top of a further
// round, round lists the nodes of one, and result is what leads back. proved says that it comes back to what it
// remembered, and looks at no clock on the way.
func (a *Automaton) endless(code Code, round []uint32, result *fsfake.Result) (endless, proved bool, err error) {
	f, _ := code.(*function)
	var memories []string
	clock := false
	goes, err := a.rounds(code, round, result, ExternalRounds, func(n int, notes []any) bool {
		clock = clock || slices.Contains(notes, any(scenarios.ClockSeen))
		if f == nil || clock || n == 0 || n > mostSummed {
			return true
		}
		sum := f.remembers()
		proved = sum != "" && slices.Contains(memories, sum)
		memories = append(memories, sum)
		return !proved
	})
	return goes == 0, proved, err
}

// mostSummed is after how many rounds at most it is asked what a program remembers: its heap has settled by then.
const mostSummed = 12

// rounds gives a program the results of one round again and again, so many times. It returns in which round the
// program made another call, or 0. Before each round on looks at what the program noted since the one before; it
// ends the trial by false.
func (a *Automaton) rounds(
	code Code, round []uint32, result *fsfake.Result, most int, on func(n int, notes []any) bool,
) (int, error) {
	var noted []any
	for n := range most {
		if !on(n, noted) {
			return 0, nil
		}
		noted = noted[:0]
		for i := range round {
			next, r := round[0], result
			if i+1 < len(round) {
				next = round[i+1]
				r = a.nodes[next].via
			}
			op, more, notes, err := proceed(code, r)
			if err != nil || !more || op != a.nodes[next].Op {
				return n + 1, err
			}
			noted = append(noted, notes...)
		}
	}
	return 0, nil
}

// Outlast tries out [LateRounds] of each round that was taken for endless and not proved to be. It says what the
// program did otherwise, and when; "" for nothing. Kinds that were tried out before are passed over; of is the first
// task that runs the same program.
func (a *Automaton) Outlast(ctx context.Context, tried *Tried, of sched.Task) (string, error) {
	for _, k := range a.order {
		e := a.edges[k]
		if !e.Back || e.Proved || a.joined != nil && slices.Contains(a.joined.into, k) {
			continue
		}
		kind := kindKey{of, a.kind(k, e)}
		if tried.has(kind) {
			continue
		}
		if text, err := a.outlast(ctx, k, e); err != nil || text != "" {
			return text, err
		}
		tried.add(kind)
	}
	return "", nil
}

func (a *Automaton) outlast(ctx context.Context, k edgeKey, e Edge) (string, error) {
	code, op, more, _, err := a.run(k.from, k.result, false)
	if code != nil {
		defer code.Stop()
	}
	top := &a.nodes[e.To&^Begun]
	switch {
	case err != nil:
		return "", err
	case !more || op != top.Op:
		return "", a.indeterminate(a.nodes[k.from].depth+1, top.Op, op, more)
	}
	round := a.path(k.from)[top.depth:]
	most := LateRounds
	if slices.ContainsFunc(round, func(id uint32) bool { return a.nodes[id].Op.Call == fsfake.CallForkAs }) {
		most = LateForks
	}
	n, err := a.rounds(code, round, k.result, most, func(int, []any) bool { return ctx.Err() == nil })
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || n == 0 {
		return "", err
	}
	return fmt.Sprintf("%s counts its attempts: after %d rounds with the same answers it goes on in another way, "+
		"which was not explored. Let it give up after fewer than %d rounds, or try natively what it does then",
		scenarios.ProcessName(a.process), n+1, ExternalRounds), nil
}

// LateRounds is how many rounds of a program that is no Go function are tried out before a verdict, LateForks how many
// that start processes: these take long.
const (
	LateRounds = 2000
	LateForks  = 400
)
