// Package pytorchbaton holds PyTorch's FileBaton, torch/utils/file_baton.py: one process
// compiles an extension, the others wait until its file is gone
// (https://github.com/pytorch/pytorch/issues/189245).
package pytorchbaton

import (
	_ "embed"
	"errors"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/root/.cache/torch_extensions/lock"

// Scenarios lists the versions.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "pytorch-baton", Lock: lock, Report: "https://github.com/pytorch/pytorch/issues/189245", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "wait-until-gone/crash", Does: "Whoever compiles is killed, and everybody else waits for ever.",
			In: kit.In(kit.Roles(build(false), build(false)), kit.Kill(1), kit.ProbeWith(baton(false))), Alike: true, Claims: kit.Broken(scenarios.Wedge),
		},
		kit.Row{
			ID: "timeout/crash", Does: "The wait ends with an error after a time: nobody hangs, and nobody ever gets through.",
			In: kit.In(kit.Roles(build(true), build(true)), kit.Kill(1), kit.ProbeWith(baton(true))), Alike: true, Claims: kit.Broken(scenarios.Wedge),
		},
	)
}

var errTimeout = errors.New("pytorchbaton: the extension is not ready")

// baton compiles, or waits until somebody else has.
func baton(timeout bool) scenarios.Probe {
	return func(t *scenarios.Task) error {
		f, err := t.OpenFile(lock, kit.Excl, 0o666)
		if err == nil {
			t.Work()
			return errors.Join(f.Close(), t.Unlink(lock))
		}
		for retry := t.Retry(); retry.Next(); {
			if _, err := t.Stat(lock); err != nil {
				return nil
			}
			t.Sleep(kit.Poll)
			if timeout {
				break // after any time: a sleep may last that long
			}
		}
		return errTimeout
	}
}

func build(timeout bool) scenarios.Program {
	return func(t *scenarios.Task) { _ = baton(timeout)(t) }
}
