// Package codexplugin holds state.json of openai/codex-plugin-cc (JavaScript), an index of
// background jobs with files of each job (https://github.com/openai/codex-plugin-cc/issues/458;
// proposals https://github.com/openai/codex-plugin-cc/pull/689 and
// https://github.com/openai/codex-plugin-cc/pull/460).
package codexplugin

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
	dir  = "/home/user/.codex/"
	file = dir + "state.json"
	lock = dir + "state.lock"
)

// Scenarios lists the index as reported, and as proposed.
func Scenarios() []scenarios.Scenario {
	lost := scenarios.LostUpdate
	sys := kit.System{Name: "codex-plugin", Lock: lock, State: file, Report: "https://github.com/openai/codex-plugin-cc/issues/458", Source: source}
	const proposal = "https://github.com/openai/codex-plugin-cc/pull/689"
	return sys.Scenarios(
		kit.Row{
			ID: "in-place/writers", Does: "The index is read, changed, and written in place.",
			In: kit.In(kit.Run(2, adds(inPlace))), Claims: kit.Broken(lost),
		},
		kit.Row{
			ID: "rename/writers", Does: "The new index replaces the old one by a rename: an atomic write is no lock.",
			In: kit.In(kit.Run(2, adds(byRename))), Claims: kit.Broken(lost),
		},
		kit.Row{
			ID: "locked-rmw/writers", Does: "A lock file is around the read and the write.", Report: proposal,
			In: kit.In(kit.Run(2, adds(locked(false)))), Claims: kit.Holds(lost),
		},
		kit.Row{
			ID: "locked-rmw-steal/dead-owner", Does: "A dead owner's lock file is unlinked: two who judge it remove each other's.", Report: proposal,
			In: kit.In(kit.Run(2, adds(locked(true))), kit.File(lock, kit.Dead)), Claims: kit.Broken(lost),
		},
	)
}

// adds adds a job to the index, with a file, and looks for it when nobody is writing.
func adds(update func(t *scenarios.Task, key string) bool) func(scenarios.Protocol) scenarios.Program {
	find := func(t *scenarios.Task, key string) bool {
		for retry := t.Retry(); retry.Next(); {
			if text, _ := kit.ReadAll(t, file); text != "" {
				return slices.Contains(strings.Fields(text), key)
			}
		}
		panic("unreachable")
	}
	return func(scenarios.Protocol) scenarios.Program { return kit.Adds(update, find) }
}

// update reads the index, adds a job, removes the files of jobs that it does not know, and
// writes the index.
func update(t *scenarios.Task, key string, write func(t *scenarios.Task, name, text string) error) bool {
	text, _ := kit.ReadAll(t, file)
	jobs := append(strings.Fields(text), key)
	text, _ = kit.ReadAll(t, file)
	for _, job := range strings.Fields(text) {
		if !slices.Contains(jobs, job) {
			_ = t.Unlink(dir + job + ".log")
		}
	}
	return write(t, file, strings.Join(jobs, "\n")+"\n") == nil
}

func inPlace(t *scenarios.Task, key string) bool { return update(t, key, kit.Replace) }

func byRename(t *scenarios.Task, key string) bool {
	return update(t, key, func(t *scenarios.Task, name, text string) error {
		private, err := kit.Private(t, name, text)
		if err != nil {
			return err
		}
		return t.Rename2(private, name, 0)
	})
}

func locked(steal bool) func(t *scenarios.Task, key string) bool {
	return func(t *scenarios.Task, key string) bool {
		for retry := t.Retry(); retry.Next(); {
			if kit.Create(t, lock, kit.Me(t)) == nil {
				break
			}
			if text, err := kit.ReadAll(t, lock); steal && err == nil && kit.PidIn(text) > 0 && kit.Gone(t, kit.PidIn(text)) {
				_ = t.Unlink(lock)
				continue
			}
			t.Sleep(kit.Poll)
		}
		ok := inPlace(t, key)
		return t.Unlink(lock) == nil && ok
	}
}
