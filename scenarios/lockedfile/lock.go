// Package lockedfile holds cmd/go/internal/lockedfile, published as
// rogpeppe/go-internal/lockedfile: Go's module cache. The file is the data itself, opened,
// then locked with flock(2), and then truncated; it is never removed.
package lockedfile

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const file = "/go/pkg/mod/cache/list"

// Scenarios lists the situations of the file.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "lockedfile", State: file, Report: "https://github.com/rogpeppe/go-internal/tree/master/lockedfile", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "truncate-after-lock/reader", Does: "The file is truncated only when it is locked, and readers lock it too.",
			In: kit.In(kit.Roles(write, read)), Claims: kit.Holds(scenarios.TornRead),
		},
		kit.Row{
			ID: "transform/writers", Does: "The new content is written in place, its tail first, under one lock with the read.",
			In: kit.In(kit.Run(3, adds)), Claims: kit.Holds(scenarios.LostUpdate),
		},
		kit.Row{
			ID: "transform/crash", Does: "A writer is killed between the tail and the head: the kernel drops the lock, and the mixture stays.",
			In:     kit.In(kit.Roles(rewrite, read), kit.Kill(1), kit.Mortal(0)),
			Claims: kit.Broken(scenarios.TornRead),
		},
	)
}

// open is OpenFile: exclusive for writing, shared for reading.
func open(t *scenarios.Task, flags int) (*fsfake.File, error) {
	how := fsfake.LOCK_EX
	if flags&(os.O_WRONLY|os.O_RDWR) == 0 {
		how = fsfake.LOCK_SH
	}
	f, err := t.OpenFile(file, flags&^os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Flock(how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if flags&os.O_TRUNC != 0 {
		return f, f.Truncate(0)
	}
	return f, nil
}

func closeFile(f *fsfake.File) error { return errors.Join(f.Flock(fsfake.LOCK_UN), f.Close()) }

// write replaces the content twice.
func write(t *scenarios.Task) {
	for _, text := range []string{"a", "b"} {
		_ = kit.Writes(t, text, func() error {
			f, err := open(t, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
			if err != nil {
				return err
			}
			_, err = f.WriteString(text)
			return errors.Join(err, closeFile(f))
		})
	}
}

func read(t *scenarios.Task) {
	kit.Reads(t, func() string {
		f, err := open(t, os.O_RDONLY)
		if err != nil {
			return ""
		}
		text, _ := kit.ReadFrom(f)
		_ = closeFile(f)
		return text
	})
}

// transform replaces the content by a function of it.
func transform(t *scenarios.Task, f func(old string) string) error {
	file, err := open(t, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	old, err := kit.ReadFrom(file)
	if err != nil {
		return errors.Join(err, closeFile(file))
	}
	text := f(old)
	n := min(len(old), len(text))
	if len(text) > n { // the tail first, so that a full disk is noticed before anything is lost
		_, err = file.WriteAt([]byte(text[n:]), int64(n))
	}
	if err == nil && n > 0 {
		_, err = file.WriteAt([]byte(text[:n]), 0)
	}
	if err == nil && len(text) < len(old) {
		err = file.Truncate(int64(len(text)))
	}
	return errors.Join(err, closeFile(file))
}

func adds(scenarios.Protocol) scenarios.Program {
	return kit.Adds(
		func(t *scenarios.Task, key string) bool {
			return transform(t, func(old string) string { return old + key + "\n" }) == nil
		},
		func(t *scenarios.Task, key string) bool { return kit.HasLine(t, file, key) })
}

// rewrite writes "x", and then "yz".
func rewrite(t *scenarios.Task) {
	for _, text := range []string{"x", "yz"} {
		_ = kit.Writes(t, text, func() error { return transform(t, func(string) string { return text }) })
	}
}
