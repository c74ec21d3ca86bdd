package learn

import (
	"context"
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

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
	return fmt.Sprintf("%s counts its attempts: after %d rounds with the same answers it goes on in another way, which was "+
		"not explored. Let it give up after fewer than %d rounds, or try natively what it does then",
		scenarios.ProcessName(a.process), n+1, ExternalRounds), nil
}

// LateRounds is how many rounds of a program that is no Go function are tried out before a verdict, LateForks how many
// that start processes: these take long.
const (
	LateRounds = 2000
	LateForks  = 400
)
