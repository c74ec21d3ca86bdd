// Package kubeconfig holds how kubectl and client-go change $HOME/.kube/config: read,
// change, write back, with a lock that was moved twice
// (https://github.com/kubernetes/kubernetes/issues/23964). Source: config.go and loader.go
// of clientcmd. Readers never take the lock.
package kubeconfig

import (
	_ "embed"
	"slices"
	"strings"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	file  = "/home/user/.kube/config"
	lock  = file + ".lock"
	issue = "https://github.com/kubernetes/kubernetes/issues/23964"
	pulls = "https://github.com/kubernetes/kubernetes/pull/"
)

// Scenarios lists the versions, each in its situations.
func Scenarios() []scenarios.Scenario {
	lost := scenarios.LostUpdate
	sys := kit.System{Name: "kubeconfig", Lock: lock, State: file, Report: issue, Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "no-lock/writers", Does: "Two writers read, change and write back.",
			In: kit.In(kit.Run(2, adds(noLock))), Claims: kit.Broken(lost),
		},
		kit.Row{
			ID: "no-lock/reader", Does: "A reader meets the file between its truncation and the write.",
			In: kit.In(kit.Roles(write, read)), Claims: kit.Broken(scenarios.TornRead),
		},
		kit.Row{
			ID: "lock-in-write/writers", Does: "The lock is around the write alone: what is written was read before.", Report: pulls + "28034",
			In: kit.In(kit.Run(2, adds(lockInWrite))), Claims: kit.Broken(lost),
		},
		kit.Row{
			ID: "lock-in-modify/writers", Does: "The lock is around a second read and the write; an entry that the caller did not know is taken for one to delete.", Report: pulls + "28232",
			In: kit.In(kit.Run(2, adds(lockInModify))), Claims: kit.Broken(lost),
		},
		kit.Row{
			ID: "lock-over-all/writers", Does: "The lock is around the read, the change and the write.", Report: pulls + "28197",
			In: kit.In(kit.Run(2, adds(lockOverAll))), Claims: kit.Holds(lost),
		},
		kit.Row{
			ID: "lock-over-all/crash", Does: "The same, and a writer is killed: its lock is refused to everybody for ever.", Report: pulls + "92513",
			In:     kit.In(kit.Run(2, adds(lockOverAll)), kit.Kill(1), kit.ProbeWith(take)),
			Claims: kit.Broken(scenarios.Wedge),
		},
	)
}

func adds(update func(t *scenarios.Task, key string) bool) func(scenarios.Protocol) scenarios.Program {
	return func(scenarios.Protocol) scenarios.Program { return kit.Adds(update, find) }
}

// find looks for an entry. It takes no lock, as no reader does, and looks again where the
// file is just being written.
func find(t *scenarios.Task, key string) bool {
	for retry := t.Retry(); retry.Next(); {
		if text, _ := kit.ReadAll(t, file); text != "" {
			return slices.Contains(entries(text), key)
		}
	}
	panic("unreachable")
}

// take is lockFile.
func take(t *scenarios.Task) error { return kit.Create(t, lock, "") }

// takePolling tries until the lock is free.
func takePolling(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next(); {
		if take(t) == nil {
			return
		}
		t.Sleep(kit.Poll)
	}
}

func noLock(t *scenarios.Task, key string) bool { return kit.AddLine(t, file, key, kit.Replace) }

func lockInWrite(t *scenarios.Task, key string) bool {
	for retry := t.Retry(); retry.Next(); {
		text, _ := kit.ReadAll(t, file)
		if take(t) != nil {
			continue
		}
		err := kit.Replace(t, file, text+key+"\n")
		_ = t.Unlink(lock)
		return err == nil
	}
	panic("unreachable")
}

// lockInModify is ModifyConfig of a configuration that was read without the lock.
func lockInModify(t *scenarios.Task, key string) bool {
	text, _ := kit.ReadAll(t, file)
	wanted := append(entries(text), key)
	takePolling(t)
	text, _ = kit.ReadAll(t, file)
	there := entries(text)
	for _, k := range wanted {
		if !slices.Contains(there, k) {
			_ = kit.AddLine(t, file, k, kit.Replace)
		}
	}
	for _, k := range there {
		if !slices.Contains(wanted, k) {
			text, _ := kit.ReadAll(t, file)
			_ = kit.Replace(t, file, strings.Replace(text, k+"\n", "", 1))
		}
	}
	return t.Unlink(lock) == nil
}

func lockOverAll(t *scenarios.Task, key string) bool {
	takePolling(t)
	ok := kit.AddLine(t, file, key, kit.Replace)
	return t.Unlink(lock) == nil && ok
}

func entries(text string) []string { return strings.Fields(text) }

func write(t *scenarios.Task) {
	for _, text := range []string{"a", "b"} {
		_ = kit.Writes(t, text, func() error { return kit.Replace(t, file, text) })
	}
}

func read(t *scenarios.Task) {
	kit.Reads(t, func() string {
		text, _ := kit.ReadAll(t, file)
		return text
	})
}
