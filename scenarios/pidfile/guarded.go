package pidfile

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// codex has state.json of openai/codex-plugin-cc (JavaScript), an index of background jobs with files of each
// job (https://github.com/openai/codex-plugin-cc/issues/458; proposals
// https://github.com/openai/codex-plugin-cc/pull/689 and https://github.com/openai/codex-plugin-cc/pull/460).
func codex() []scenarios.Scenario {
	lost := scenarios.LostUpdate
	sys := kit.System{Name: "codex-plugin", Lock: codexLock, State: codexFile,
		Report: "https://github.com/openai/codex-plugin-cc/issues/458", Source: kit.Part(files, "codex")}
	const proposal = "https://github.com/openai/codex-plugin-cc/pull/689"
	return sys.Scenarios(
		kit.Row{ID: "in-place/writers", Does: "The index is read, changed, and written in place.",
			In: kit.In(kit.Run(2, codexAdds(codexInPlace))), Claims: kit.Broken(lost)},
		kit.Row{ID: "rename/writers",
			Does: "The new index replaces the old one by a rename: an atomic write is no lock.",
			In:   kit.In(kit.Run(2, codexAdds(codexByRename))), Claims: kit.Broken(lost)},
		kit.Row{ID: "locked-rmw/writers", Does: "A lock file is around the read and the write.", Report: proposal,
			In: kit.In(kit.Run(2, codexAdds(codexLocked(false)))), Claims: kit.Holds(lost)},
		kit.Row{ID: "locked-rmw-steal/dead-owner",
			Does: "A dead owner's lock file is unlinked: two who judge it remove each other's.", Report: proposal,
			In:     kit.In(kit.Run(2, codexAdds(codexLocked(true))), kit.File(codexLock, kit.Dead)),
			Claims: kit.Broken(lost)},
	)
}

const (
	codexDir  = "/home/user/.codex/"
	codexFile = codexDir + "state.json"
	codexLock = codexDir + "state.lock"
)

// codexAdds adds a job to the index, with a file, and looks for it when nobody is writing.
func codexAdds(update func(t *scenarios.Task, key string) bool) func(scenarios.Protocol) scenarios.Program {
	find := func(t *scenarios.Task, key string) bool {
		for retry := t.Retry(); retry.Next(); {
			if text, _ := kit.ReadAll(t, codexFile); text != "" {
				return slices.Contains(strings.Fields(text), key)
			}
		}
		panic("unreachable")
	}
	return func(scenarios.Protocol) scenarios.Program { return kit.Adds(update, find) }
}

// codexUpdate reads the index, adds a job, removes the files of jobs that it does not know, and
// writes the index.
func codexUpdate(t *scenarios.Task, key string, write func(t *scenarios.Task, name, text string) error) bool {
	text, _ := kit.ReadAll(t, codexFile)
	jobs := append(strings.Fields(text), key)
	text, _ = kit.ReadAll(t, codexFile)
	for _, job := range strings.Fields(text) {
		if !slices.Contains(jobs, job) {
			_ = t.Unlink(codexDir + job + ".log")
		}
	}
	return write(t, codexFile, strings.Join(jobs, "\n")+"\n") == nil
}

func codexInPlace(t *scenarios.Task, key string) bool { return codexUpdate(t, key, kit.Replace) }

func codexByRename(t *scenarios.Task, key string) bool {
	return codexUpdate(t, key, func(t *scenarios.Task, name, text string) error {
		private, err := kit.Private(t, name, text)
		if err != nil {
			return err
		}
		return t.Rename2(private, name, 0)
	})
}

func codexLocked(steal bool) func(t *scenarios.Task, key string) bool {
	return func(t *scenarios.Task, key string) bool {
		for retry := t.Retry(); retry.Next(); {
			if kit.Create(t, codexLock, kit.Me(t)) == nil {
				break
			}
			if text, err := kit.ReadAll(t, codexLock); steal && err == nil && kit.PidIn(text) > 0 &&
				kit.Gone(t, kit.PidIn(text)) {
				_ = t.Unlink(codexLock)
				continue
			}
			t.Sleep(kit.Poll)
		}
		ok := codexInPlace(t, key)
		return t.Unlink(codexLock) == nil && ok
	}
}

// gitGC has the lock of git gc, builtin/gc.c: gc.pid tells who collects, and is replaced under gc.pid.lock,
// which is created or refused.
//
// Source: https://github.com/git/git (builtin/gc.c).
func gitGC() []scenarios.Scenario {
	sys := kit.System{Name: "git-gc-pid", Lock: gitGCPidFile,
		Report: "https://github.com/git/git/blob/master/builtin/gc.c", Source: kit.Part(files, "gitGC")}
	exit := func(t *scenarios.Task) { _ = t.Unlink(gitGCPidFile) }
	watch := []string{gitGCGuard}
	return sys.Scenarios(
		kit.Row{ID: "guard-rejudge-replace/dead-owner",
			Does: "Whoever may collect is judged under a guard, and replaces the file without ever leaving its " +
				"name free.", Lock: gitGCProtocol, In: kit.In(kit.Contend(3), kit.DeadOwner(kit.Dead)),
			Claims: kit.Holds(scenarios.MutualExclusion), Watch: watch},
		kit.Row{ID: "guard-rejudge-replace/crash",
			Does: "Whoever judges is killed and leaves the guard, which nobody ever removes.", Lock: gitGCProtocol,
			In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge), Watch: watch},
		kit.Row{ID: "guard-rejudge-replace/late-exit",
			Does:   "A collection that has run for more than 12 hours ends: it removes its successor's file.",
			Lock:   gitGCProtocol,
			In:     kit.In(kit.Roles(kit.Late(exit), scenarios.Once(gitGCProtocol)), kit.DeadOwner("101\n")),
			Claims: kit.Broken(scenarios.ForeignRelease), Watch: watch},
	)
}

const (
	gitGCPidFile = "/repo/.git/gc.pid"
	gitGCGuard   = gitGCPidFile + ".lock"
	gitGCOld     = 12 * time.Hour
)

var gitGCProtocol = scenarios.Protocol{
	Path: gitGCPidFile,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		g, err := t.OpenFile(gitGCGuard, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return kit.Failed(err)
		}
		busy, err := gitGCCollects(t)
		if busy || err != nil {
			return kit.Failed(errors.Join(scenarios.ErrLocked, err, g.Close(), t.Unlink(gitGCGuard)))
		}
		_, err = g.WriteString(kit.Me(t))
		if err = errors.Join(err, g.Close()); err != nil {
			return kit.Failed(err)
		}
		return scenarios.Hold{}, t.Rename2(gitGCGuard, gitGCPidFile, 0)
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(gitGCPidFile) },
}

// gitGCCollects reports whether the owner on record lives and its file is not too old.
func gitGCCollects(t *scenarios.Task) (bool, error) {
	f, err := t.Open(gitGCPidFile)
	if kit.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err != nil || kit.Older(t, info, gitGCOld) {
		return false, errors.Join(err, f.Close())
	}
	text, err := kit.ReadFrom(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	pid := kit.PidIn(text)
	return pid != 0 && !kit.Gone(t, pid), nil // what cannot be parsed is nobody's
}

// llxprt has the lock of a recorded conversation in vybestack/llxprt-code (TypeScript),
// https://github.com/vybestack/llxprt-code/issues/3277, fixed in
// https://github.com/vybestack/llxprt-code/pull/3289: a takeover under a guard that is a hard link to the lock
// itself. It has the lock's own text, so it looks abandoned whenever it is needed.
func llxprt() []scenarios.Scenario {
	sys := kit.System{Name: "llxprt-code", Lock: llxprtLock,
		Report: "https://github.com/vybestack/llxprt-code/issues/3277", Source: kit.Part(files, "llxprt")}
	return sys.Scenarios(kit.Row{ID: "guard-is-hard-link/dead-owner",
		Does: "A dead owner's lock is replaced under a guard that is a link to it, and has its dead owner.",
		Lock: llxprtProtocol, In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)),
		Claims: kit.Broken(scenarios.MutualExclusion), Watch: []string{llxprtGuard}})
}

const (
	llxprtLock  = "/home/user/.llxprt/chat.lock"
	llxprtGuard = llxprtLock + ".tguard"
)

var llxprtProtocol = scenarios.Protocol{
	Path: llxprtLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, llxprtLock, kit.Me(t))
		if err != nil {
			return kit.Failed(err)
		}
		err = t.Link(private, llxprtLock)
		if !kit.Exists(err) {
			return scenarios.Hold{}, err
		}
		judged, err := kit.ReadAll(t, llxprtLock)
		if err != nil || !kit.Gone(t, kit.PidIn(judged)) || !llxprtEnter(t) {
			return kit.Locked()
		}
		won := false
		if again, err := kit.ReadAll(t, llxprtLock); err == nil && again == judged {
			_ = t.Unlink(llxprtLock)
			won = t.Link(private, llxprtLock) == nil
		}
		_ = t.Unlink(llxprtGuard)
		if !won {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(llxprtLock) },
}

// llxprtEnter makes the guard, and removes one whose owner is dead.
func llxprtEnter(t *scenarios.Task) bool {
	for retry := t.Retry(); retry.Next(); {
		if err := t.Link(llxprtLock, llxprtGuard); !kit.Exists(err) {
			return err == nil
		}
		text, err := kit.ReadAll(t, llxprtGuard)
		if err != nil || !kit.Gone(t, kit.PidIn(text)) {
			return false
		}
		_ = t.Unlink(llxprtGuard)
	}
	panic("unreachable")
}
