package aside

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// primeAgent is the bootstrap lock of PrimeIntellect-ai/prime-agent (TypeScript): as reported
// (issue 1005) a stale directory is removed and made anew; as repaired a directory with the
// pid in it is renamed to the name, and a stale one renamed away, "so a live lock created
// in the interim is never touched".
func primeAgent() []scenarios.Scenario {
	const lock = "/home/user/.prime/bootstrap.lock"
	sys := kit.System{Name: "prime-agent", Lock: lock, Source: kit.Text(files, "primeagent.go"),
		Report: "https://github.com/PrimeIntellect-ai/prime-agent/pull/1006"}
	release := func(t *scenarios.Task) error { return removeTree(t, lock, "pid") }
	dead := func(t *scenarios.Task) bool {
		text, err := kit.ReadAll(t, lock+"/pid")
		return err == nil && kit.Gone(t, kit.PidIn(text))
	}
	write := func(t *scenarios.Task, dir string) error { return kit.Create(t, dir+"/pid", kit.Me(t)) }
	rm := directory(lock, func(t *scenarios.Task) error { return write(t, lock) }, func(t *scenarios.Task) bool {
		return dead(t) && release(t) == nil
	}, release)
	candidate := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			mine, away := kit.PrivateName(t, lock+".candidate"), kit.PrivateName(t, lock+".stale")
			if err := t.Mkdir(mine, 0o777); err != nil {
				return kit.Failed(err)
			}
			if err := write(t, mine); err != nil {
				return kit.Failed(err)
			}
			for retry := t.Retry(); retry.Next(); {
				if t.Rename2(mine, lock, 0) == nil {
					return scenarios.Hold{}, nil
				}
				if dead(t) && t.Rename2(lock, away, 0) == nil {
					_ = removeTree(t, away, "pid")
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return release(t) },
	}
	there := kit.Old(func(p *fsfake.Proc, lock string) error {
		if err := p.Mkdir(lock, 0o777); err != nil {
			return err
		}
		return p.WriteFile(lock+"/pid", []byte(kit.Dead), 0o666)
	})
	me, issue := scenarios.MutualExclusion, "https://github.com/PrimeIntellect-ai/prime-agent/issues/1005"
	return sys.Scenarios(
		kit.Row{ID: "remove-then-mkdir/dead-owner", Does: "A dead owner's directory is removed and made anew.", Report: issue, Lock: rm, In: kit.In(kit.Contend(2), there), Claims: kit.Broken(me)},
		kit.Row{ID: "candidate-rename/contend", Does: "A complete directory is renamed to the name, which fails where one with a file is.", Lock: candidate, In: kit.In(kit.Contend(2), kit.Daemons), Claims: kit.Holds(me)},
		kit.Row{ID: "candidate-rename/dead-owner", Does: "A dead owner's directory is renamed away, and by then it may be a living one's.", Lock: candidate, In: kit.In(kit.Contend(2), there), Claims: kit.Broken(me)},
	)
}
