package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// What operations come to on machines that are made once more they come to on machines that were kept, whichever came
// before them in the workspace; and so it is where something is forgotten after them.
func TestWorkspace(t *testing.T) {
	sc := fixtures.New("toy/excl/workspace", fixtures.Excl(), scenarios.Setting{Processes: 3})
	x, err := NewSpace(sc, scenarios.Deadlock)
	require.NoError(t, err)
	defer x.Close()
	w, tb := NewExpander(x), x.machines
	const name = "/tmp/workspace"
	ops := []any{
		fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_CREAT | fsfake.O_RDWR, Mode: 0o644},
		fsfake.Op{Call: fsfake.CallStat, Path: name}, fsfake.Op{Call: fsfake.CallStat, Path: "/tmp"},
		fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "x"}, fsfake.Op{Call: fsfake.CallClose, FD: 3},
		fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}, fsfake.Op{Call: fsfake.CallUnlink, Path: name},
		opForget{0}, opKill{}, opStall{pass: 1},
	}
	forgets := []any{opForget{0}, opForget{0b10}, opPin{}}
	kept := map[uint32]*fsfake.Machine{x.Initial[wordMachine]: tb.get(x.Initial[wordMachine])}
	ids := []uint32{x.Initial[wordMachine]}
	random := rand.New(rand.NewPCG(1, 2))
	is := func(m *fsfake.Machine, id uint32, after ...any) {
		require.Equal(t, string(m.AppendKey(nil)), string(tb.get(id).AppendKey(nil)), "after %v", after)
		if kept[id] == nil {
			kept[id], ids = m, append(ids, id)
		}
	}
	for range 5_000 {
		from := ids[random.IntN(len(ids))]
		if last := ids[len(ids)-1]; random.IntN(3) == 0 {
			from = last
		}
		for range 1 + random.IntN(3) {
			slot, v := random.IntN(len(x.Slots)), ops[random.IntN(len(ops))]
			task, m := x.Slots[slot].id, kept[from].Clone()
			op, isCall := v.(fsfake.Op)
			if isCall {
				if blocked, ok := m.Blocked(task); ok {
					op = blocked
				}
				if v = op; !m.Alive(task.Pid) {
					continue
				}
			}
			id := tb.op(v)
			if random.IntN(2) == 0 || !isCall {
				got, err := w.transition(from, slot, id)
				require.NoError(t, err)
				want, err := tb.apply(from, id, task, &workspace{})
				require.NoError(t, err)
				require.Equal(t, want, got, "in a workspace with nothing else on it")
				if isCall {
					require.Equal(t, m.Do(task, op), *tb.result(got.result))
					is(m, got.machine, v)
				} else if kept[got.machine] == nil {
					is(tb.get(got.machine), got.machine, v)
				}
				continue
			}
			mv, err := w.transition(from, slot, id)
			require.NoError(t, err)
			if r := m.Do(task, op); r.Blocked {
				continue
			}
			then := forgets[random.IntN(len(forgets))]
			forgetNumbers(m, task.Pid, then)
			got, err := w.transition(mv.machine, slot, tb.op(then))
			require.NoError(t, err)
			is(m, got.machine, v, then)
		}
	}
	require.Greater(t, len(ids), 500)
	for _, id := range ids {
		require.Equal(t, string(kept[id].AppendKey(nil)), string(tb.get(id).AppendKey(nil)))
	}
	require.Less(t, len(tb.kept), len(ids), "most are made once more")
}
