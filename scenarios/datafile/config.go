package datafile

import (
	"errors"
	"os"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// gitLock has git's lockfile.c and tempfile.c: index.lock, config.lock and every ref. The new content is
// written to the lock file, and a rename publishes and releases at once. There is no rule for a lock that was
// left behind: that is deliberate.
//
// Source: https://github.com/git/git (lockfile.c, tempfile.c).
func gitLock() []scenarios.Scenario {
	sys := kit.System{Name: "git-lockfile", Lock: gitLockLock, State: gitLockFile,
		Report: "https://github.com/git/git/blob/master/lockfile.c", Source: kit.Part(files, "gitLock")}
	adds := func(scenarios.Protocol) scenarios.Program {
		return kit.Adds(gitLockAdd, func(t *scenarios.Task, key string) bool {
			return kit.HasLine(t, gitLockFile, key)
		})
	}
	once := func(t *scenarios.Task) error {
		if _, ok := gitLockUpdate(t, "probe"); !ok {
			return scenarios.ErrLocked
		}
		return nil
	}
	return sys.Scenarios(
		kit.Row{ID: "excl-rename/writers",
			Does: "The lock file is created, takes the new content, and is renamed; who finds one tries again.",
			In:   kit.In(kit.Run(3, adds)), Claims: kit.Holds(scenarios.LostUpdate)},
		kit.Row{ID: "excl-rename/reader",
			Does: "A reader takes no part in the lock, and sees the old or the new content.",
			In:   kit.In(kit.Roles(gitLockWrite, gitLockRead)), Claims: kit.Holds(scenarios.TornRead)},
		kit.Row{ID: "excl-rename/crash", Does: "A writer is killed and leaves its lock, which nobody ever removes.",
			In: kit.In(kit.Run(2, adds), kit.Kill(1), kit.ProbeWith(once)), Claims: kit.Broken(scenarios.Wedge)},
	)
}

const (
	gitLockFile = "/repo/.git/config"
	gitLockLock = gitLockFile + ".lock"
)

// gitLockUpdate writes the file with one more line, if nobody else does.
func gitLockUpdate(t *scenarios.Task, line string) (refused, ok bool) {
	f, err := t.OpenFile(gitLockLock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return kit.Exists(err), false
	}
	text, err := kit.ReadAll(t, gitLockFile)
	if err == nil || kit.Missing(err) {
		err = gitLockPublish(t, f, text+line+"\n")
	}
	return false, err == nil
}

func gitLockPublish(t *scenarios.Task, f *fsfake.File, text string) error {
	_, err := f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, t.Unlink(gitLockLock))
	}
	return t.Rename2(gitLockLock, gitLockFile, 0)
}

// gitLockAdd is an update that is tried until the lock is free.
func gitLockAdd(t *scenarios.Task, key string) bool {
	for retry := t.Retry(); retry.Next(); {
		refused, ok := gitLockUpdate(t, key)
		if !refused {
			return ok
		}
		t.Sleep(kit.Poll)
	}
	panic("unreachable")
}

// gitLockWrite replaces the content twice.
func gitLockWrite(t *scenarios.Task) {
	for _, text := range []string{"a", "b"} {
		_ = kit.Writes(t, text, func() error {
			f, err := t.OpenFile(gitLockLock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
			if err != nil {
				return err
			}
			return gitLockPublish(t, f, text)
		})
	}
}

func gitLockRead(t *scenarios.Task) {
	kit.Reads(t, func() string {
		text, _ := kit.ReadAll(t, gitLockFile)
		return text
	})
}

// kube has how kubectl and client-go change $HOME/.kube/config: read, change, write back, with a lock that was
// moved twice (https://github.com/kubernetes/kubernetes/issues/23964). Source: config.go and loader.go of
// clientcmd. Readers never take the lock.
func kube() []scenarios.Scenario {
	lost := scenarios.LostUpdate
	sys := kit.System{Name: "kubeconfig", Lock: kubeLock, State: kubeFile, Report: kubeIssue,
		Source: kit.Part(files, "kube")}
	return sys.Scenarios(
		kit.Row{ID: "no-lock/writers", Does: "Two writers read, change and write back.",
			In: kit.In(kit.Run(2, kubeAdds(kubeNoLock))), Claims: kit.Broken(lost)},
		kit.Row{ID: "no-lock/reader", Does: "A reader meets the file between its truncation and the write.",
			In: kit.In(kit.Roles(kubeWrite, kubeRead)), Claims: kit.Broken(scenarios.TornRead)},
		kit.Row{ID: "lock-in-write/writers",
			Does: "The lock is around the write alone: what is written was read before.", Report: kubePulls + "28034",
			In: kit.In(kit.Run(2, kubeAdds(kubeLockInWrite))), Claims: kit.Broken(lost)},
		kit.Row{ID: "lock-in-modify/writers",
			Does: "The lock is around a second read and the write; an entry that the caller did not know is taken " +
				"for one to delete.", Report: kubePulls + "28232", In: kit.In(kit.Run(2, kubeAdds(kubeLockInModify))),
			Claims: kit.Broken(lost)},
		kit.Row{ID: "lock-over-all/writers", Does: "The lock is around the read, the change and the write.",
			Report: kubePulls + "28197", In: kit.In(kit.Run(2, kubeAdds(kubeLockOverAll))), Claims: kit.Holds(lost)},
		kit.Row{ID: "lock-over-all/crash",
			Does:   "The same, and a writer is killed: its lock is refused to everybody for ever.",
			Report: kubePulls + "92513",
			In:     kit.In(kit.Run(2, kubeAdds(kubeLockOverAll)), kit.Kill(1), kit.ProbeWith(kubeTake)),
			Claims: kit.Broken(scenarios.Wedge)},
	)
}

const (
	kubeFile  = "/home/user/.kube/config"
	kubeLock  = kubeFile + ".lock"
	kubeIssue = "https://github.com/kubernetes/kubernetes/issues/23964"
	kubePulls = "https://github.com/kubernetes/kubernetes/pull/"
)

func kubeAdds(update func(t *scenarios.Task, key string) bool) func(scenarios.Protocol) scenarios.Program {
	return func(scenarios.Protocol) scenarios.Program { return kit.Adds(update, kubeFind) }
}

// kubeFind looks for an entry. It takes no lock, as no reader does, and looks again where the
// file is just being written.
func kubeFind(t *scenarios.Task, key string) bool {
	for retry := t.Retry(); retry.Next(); {
		if text, _ := kit.ReadAll(t, kubeFile); text != "" {
			return slices.Contains(kubeEntries(text), key)
		}
	}
	panic("unreachable")
}

// kubeTake is lockFile.
func kubeTake(t *scenarios.Task) error { return kit.Create(t, kubeLock, "") }

// kubeTakePolling tries until the lock is free.
func kubeTakePolling(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next(); {
		if kubeTake(t) == nil {
			return
		}
		t.Sleep(kit.Poll)
	}
}

func kubeNoLock(t *scenarios.Task, key string) bool {
	return kit.AddLine(t, kubeFile, key, kit.Replace)
}

func kubeLockInWrite(t *scenarios.Task, key string) bool {
	for retry := t.Retry(); retry.Next(); {
		text, _ := kit.ReadAll(t, kubeFile)
		if kubeTake(t) != nil {
			continue
		}
		err := kit.Replace(t, kubeFile, text+key+"\n")
		_ = t.Unlink(kubeLock)
		return err == nil
	}
	panic("unreachable")
}

// kubeLockInModify is ModifyConfig of a configuration that was read without the lock.
func kubeLockInModify(t *scenarios.Task, key string) bool {
	text, _ := kit.ReadAll(t, kubeFile)
	wanted := append(kubeEntries(text), key)
	kubeTakePolling(t)
	text, _ = kit.ReadAll(t, kubeFile)
	there := kubeEntries(text)
	for _, k := range wanted {
		if !slices.Contains(there, k) {
			_ = kit.AddLine(t, kubeFile, k, kit.Replace)
		}
	}
	for _, k := range there {
		if !slices.Contains(wanted, k) {
			text, _ := kit.ReadAll(t, kubeFile)
			_ = kit.Replace(t, kubeFile, strings.Replace(text, k+"\n", "", 1))
		}
	}
	return t.Unlink(kubeLock) == nil
}

func kubeLockOverAll(t *scenarios.Task, key string) bool {
	kubeTakePolling(t)
	ok := kit.AddLine(t, kubeFile, key, kit.Replace)
	return t.Unlink(kubeLock) == nil && ok
}

func kubeEntries(text string) []string { return strings.Fields(text) }

func kubeWrite(t *scenarios.Task) {
	for _, text := range []string{"a", "b"} {
		_ = kit.Writes(t, text, func() error { return kit.Replace(t, kubeFile, text) })
	}
}

func kubeRead(t *scenarios.Task) {
	kit.Reads(t, func() string {
		text, _ := kit.ReadAll(t, kubeFile)
		return text
	})
}
