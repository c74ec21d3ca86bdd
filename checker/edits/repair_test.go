package edits

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// repair returns the fix, and why others before it do not hold.
func repair(t *testing.T, sc *scenarios.Scenario) (fix string, tried map[string]string) {
	t.Helper()
	tried = map[string]string{}
	r, err := RepairProtocol(t.Context(), sc, nil, checker.Options{}, func(r Repair) {
		if r.Proof == "" {
			tried[r.Text] = r.Why
		}
	})
	require.NoError(t, err)
	if r == nil {
		return "", tried
	}
	require.NotEmpty(t, r.Proof)
	return r.Text, tried
}

// kernel is a lock of the kernel on a file that is removed, after the lock or before, perhaps never.
func kernel(unlink string) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_EX)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if unlink == "held" {
				_ = t.Unlink(lock)
			}
			err := h.File.Close()
			if unlink == "after" {
				_ = t.Unlink(lock)
			}
			return err
		},
	}
}

// file is a lock file that is created; looks says how.
func file(flags int) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if flags&os.O_EXCL == 0 {
				if _, err := t.Stat(lock); err == nil {
					return scenarios.Hold{}, scenarios.ErrLocked
				}
			}
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_WRONLY|flags, 0o644)
			if err != nil {
				return scenarios.Hold{}, errors.Join(scenarios.ErrLocked, err)
			}
			return scenarios.Hold{}, f.Close()
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}

// The fixes of these locks are known. What is found holds as source, too.
func TestKnownRepairs(t *testing.T) {
	seldom(t)
	fix, tried := repair(t, scenario(kernel("after"), 3))
	require.Regexp(t, `^without unlink lock \(step 5, repair_test.go:\d+\)$`, fix)
	require.Empty(t, tried, "a call less comes before two calls more")
	holds, err := checker.Check(t.Context(), scenario(kernel(""), 3), scenarios.MutualExclusion,
		checker.Options{SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, checker.Holds, holds.Verdict)

	fix, _ = repair(t, scenario(kernel("held"), 3))
	require.Contains(t, fix, "without unlink lock (step 4, ")
	held, r := scenario(kernel("held"), 3), edit.Recorder{}
	require.NoError(t, r.Alone(held))
	m := &mender{row: rowOf(held), o: checker.Options{States: RepairStates}}
	require.NoError(t, m.ask(t.Context(), &r))
	compares := slices.IndexFunc(m.changes(r.Sites()), func(c []*edit.Edit) bool {
		return strings.HasPrefix(textOf(c), "after flock fd 3 LOCK_EX, compare fd and name, and else begin anew (step")
	})
	got := m.try(t.Context(), m.changes(r.Sites())[compares])
	require.Equal(t, "mutual-exclusion with 3 processes; nothing else that was asked is worse", got.Proof)
	require.Equal(t, 2, got.Calls, "fstat and stat")

	fix, _ = repair(t, scenario(file(0), 2))
	require.Contains(t, fix, "O_EXCL in open lock O_WRONLY|O_CREAT (step 2, ")

	crash := scenario(file(os.O_EXCL), 2)
	crash.Setting.Crashes = 1
	crash.Claims = append(crash.Claims, scenarios.Claim{Property: scenarios.Wedge, Verdict: scenarios.Broken})
	fix, _ = repair(t, crash)
	require.Regexp(t, `^where open lock \S+ finds a file there, unlink it and try again \(step 1, \S+\); `+
		`and flock /tmp/lock.guard from before the lock is taken until it is given back$`, fix)
}

// A record lock goes when the process closes another descriptor of the file, and one of an open file does not. Both the
// lock and the unlocking are changed.
func TestRecordLocksOfOpenFiles(t *testing.T) {
	seldom(t)
	record := func(typ int) fsfake.RecordLock { return fsfake.RecordLock{Type: typ} }
	p := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			err = f.FcntlLock(record(fsfake.F_WRLCK), true)
			_, _ = t.ReadFile(lock)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			return h.File.FcntlLock(record(fsfake.F_UNLCK), false)
		},
	}
	fix, _ := repair(t, scenario(p, 2))
	require.Regexp(t, `^F_OFD_SETLK in place of F_SETLK \(step 2, repair_test.go:\d+\)$`, fix)
}

// A directory that the dead have left is taken over under a lock of the kernel. The line that makes it is reached from
// two places, and is changed for both: the probe comes from the second one.
func TestTakeovers(t *testing.T) {
	seldom(t)
	mkdir := func(t *scenarios.Task) error {
		if t.Mkdir(lock, 0o755) != nil {
			return scenarios.ErrLocked
		}
		return nil
	}
	sc := scenario(scenarios.Protocol{
		Path:    lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) { return scenarios.Hold{}, mkdir(t) },
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(lock) },
	}, 2)
	sc.Setting.Crashes = 1
	sc.Claims = append(sc.Claims, scenarios.Claim{Property: scenarios.Wedge, Verdict: scenarios.Broken})
	sc.Probe = func(t *scenarios.Task) error {
		err := mkdir(t)
		return err
	}
	fix, _ := repair(t, sc)
	require.Regexp(t, `^take a directory that is there for made by mkdir lock \(step 1, repair_test.go:\d+\); `+
		`and flock /tmp/lock.guard from before the lock is taken until it is given back$`, fix)
}

// A guard's file is not in a directory that somebody lists who takes each file there for a lock.
func TestGuardIsInNobodysWay(t *testing.T) {
	const dir = "/tmp/locks"
	lists := scenarios.Protocol{
		Path: dir + "/own",
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if names, err := t.ReadDir(dir); err != nil || len(names) > 0 {
				return scenarios.Hold{}, errors.Join(scenarios.ErrLocked, err)
			}
			return scenarios.Hold{}, t.WriteFile(dir+"/own", nil, 0o644)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(dir + "/own") },
	}
	for _, c := range []struct {
		lock  scenarios.Protocol
		guard string
	}{{lists, "/tmp/own.guard"}, {kernel(""), "/tmp/lock.guard"}} {
		sc := scenario(c.lock, 2)
		sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).Mkdir(dir, 0o755) }
		m := mender{row: rowOf(sc)}
		require.Equal(t, c.guard, m.guard())
	}
}

// A file that is read while it is written is written under a private name. Where the power may be lost, it is synced.
func TestPrivateName(t *testing.T) {
	const data = "/tmp/data"
	write := func(t *scenarios.Task) {
		scenarios.Record(t, model.Write{Value: "ab"}, func() model.Written {
			f, err := t.OpenFile(data, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
			if err == nil {
				_, _ = f.WriteString("a")
				_, _ = f.WriteString("b")
				_ = f.Close()
			}
			return model.Written{}
		})
	}
	read := func(t *scenarios.Task) {
		scenarios.Record(t, model.Read{}, func() model.ReadValue {
			text, _ := t.ReadFile(data)
			return model.ReadValue{Value: string(text)}
		})
	}
	sc := &scenarios.Scenario{
		ID: "toy/torn/read", Setting: scenarios.Setting{Processes: 2, Fixed: true}, Watch: []string{data},
		Program: func(process, _ int) scenarios.Program { return []scenarios.Program{write, read}[process] },
		Claims:  []scenarios.Claim{{Property: scenarios.TornRead, Verdict: scenarios.Broken}},
	}
	fix, _ := repair(t, sc)
	require.Contains(t, fix, "open data O_WRONLY|O_CREAT|O_TRUNC under a private name, renamed when it is closed")
}

// What holds by refusing always, by waiting for ever, or by doing nothing is no repair.
func TestNoRepairs(t *testing.T) {
	sc := scenario(file(0), 2)
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			_ = scenarios.Locked(t, file(0), func() { _ = t.WriteFile("/tmp/done", []byte(t.Process), 0o644) })
		}
	}
	m := mender{row: rowOf(sc)}
	var r edit.Recorder
	require.NoError(t, r.Alone(sc))
	require.NoError(t, m.ask(t.Context(), &r))
	require.Equal(t, 1, m.broken)
	calls := func(do func(p fsfake.Port, op fsfake.Op) fsfake.Result) []*edit.Edit {
		return []*edit.Edit{{Text: "it", Change: func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
			return edit.Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result { return do(p, op) }}
		}}}
	}
	for why, do := range map[string]func(p fsfake.Port, op fsfake.Op) fsfake.Result{
		"one after the other, A is refused the lock": func(p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallOpen { // it refuses
				p.Do(edit.Work)
				return fsfake.Result{Errno: fsfake.EEXIST}
			}
			return p.Do(op)
		},
		"one after the other, A does not end": func(p fsfake.Port, op fsfake.Op) fsfake.Result {
			for op.Call == fsfake.CallUnlink {
				p.Do(edit.Work)
			}
			return p.Do(op)
		},
		"one after the other, done is not as it was": func(p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallWrite {
				p.Do(edit.Work)
				return fsfake.Result{N: int64(len(op.Data))}
			}
			return p.Do(op)
		},
	} {
		fix := m.try(t.Context(), calls(do))
		require.Empty(t, fix.Proof, why)
		require.Equal(t, why, fix.Why)
	}
	crossed := &edit.Edit{Text: "two locks", Change: func(task *scenarios.Task, p fsfake.Port) fsfake.Port {
		return edit.Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallStat {
				for i := range 2 {
					name := []string{"/tmp/g", "/tmp/h"}[(i+task.Index)%2]
					f := p.Do(fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_CREAT | fsfake.O_RDWR, Mode: 0o666})
					p.Do(fsfake.Op{Call: fsfake.CallFlock, FD: int(f.N), Flags: fsfake.LOCK_EX})
				}
			}
			return p.Do(op)
		}}
	}}
	fix := m.try(t.Context(), []*edit.Edit{crossed})
	require.Contains(t, fix.Why, "with 2 processes deadlock is broken by A3 B2 A1 B2")
	// A change must not break what nothing is claimed of, nor refuse where one waited.
	flags := func(sc *scenarios.Scenario, change func(int) int) string {
		m, r := mender{row: rowOf(sc)}, edit.Recorder{}
		require.NoError(t, m.ask(t.Context(), &r))
		return m.try(t.Context(), calls(func(p fsfake.Port, op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallOpen {
				op.Flags = change(op.Flags)
			}
			return p.Do(op)
		})).Why
	}
	crash := scenario(file(os.O_EXCL), 2)
	crash.Setting.Crashes = 1
	crash.Claims = []scenarios.Claim{{Property: scenarios.Wedge, Verdict: scenarios.Broken}}
	require.Contains(t, flags(crash, func(f int) int { return f &^ fsfake.O_EXCL }), "mutual-exclusion is broken by A2 B2")
	excl := func(f int) int { return f | fsfake.O_EXCL }
	two := scenario(kernel("after"), 2) // a change that ends in this
	holds := mender{row: rowOf(two), asked: []*scenarios.Property{scenarios.MutualExclusion}}
	none := calls(func(p fsfake.Port, op fsfake.Op) fsfake.Result { return p.Do(op) })
	require.Regexp(t, "^with 3 processes mutual-exclusion is broken by", holds.try(t.Context(), none).Why)
	waits := scenario(kernel("after"), 3)
	require.Equal(t, "with 3 processes wedge is broken by A1 B2 C2 A!", flags(waits, excl))
	waits.Probe = nil
	require.Equal(t, "somebody is refused the lock who got it before", flags(waits, excl))

	// The last one leaves its file, which nobody is refused for but whoever comes later.
	leaves := &edit.Edit{Text: "it", Change: func(task *scenarios.Task, p fsfake.Port) fsfake.Port {
		return edit.Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallUnlink && task.Index == 1 {
				return p.Do(edit.Work)
			}
			if op.Call == fsfake.CallOpen && op.Path == lock {
				op.Flags |= fsfake.O_EXCL
			}
			return p.Do(op)
		}}
	}}
	require.Equal(t, "one after the other, A is refused the lock", m.try(t.Context(), []*edit.Edit{leaves}).Why)
	for _, c := range m.changes(r.Sites()) {
		require.NotContains(t, c[0].Text, "work before", "what is done under the lock stays there")
	}

	_, err := RepairProtocol(t.Context(), scenario(file(os.O_EXCL), 2), nil, checker.Options{}, func(Repair) {})
	require.ErrorIs(t, err, ErrHolds)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = RepairProtocol(stopped, scenario(file(os.O_EXCL), 2), nil, checker.Options{}, func(Repair) {})
	require.ErrorIs(t, err, ErrUnknown)
	sc.External = true
	_, err = RepairProtocol(t.Context(), sc, nil, checker.Options{}, func(Repair) {})
	require.ErrorContains(t, err, "lockpick run --repair")
}
