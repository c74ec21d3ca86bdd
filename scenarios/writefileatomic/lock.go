// Package writefileatomic holds npm/write-file-atomic (npm itself, and thousands of
// packages): a private file that is renamed over the name, with and without fsync
// (https://github.com/npm/write-file-atomic/issues/64).
package writefileatomic

import (
	_ "embed"
	"errors"
	"path"
	"syscall"

	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const file = "/srv/app/config.json"

// Scenarios lists the options, each in its situations.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "write-file-atomic", State: file, Report: "https://github.com/npm/write-file-atomic/issues/64", Source: source}
	start := func(id, does string, syncFile bool, claims []scenarios.Claim) kit.Row {
		return kit.Row{
			ID: id + "/start-after-loss", Does: does, Claims: claims,
			In: kit.In(kit.Roles(writes(syncFile, false)), kit.LosePower(), kit.ProbeWith(parse)),
		}
	}
	read := func(id, does string, syncDir bool, claims []scenarios.Claim) kit.Row {
		return kit.Row{
			ID: id + "/read-after-loss", Does: does, Claims: claims,
			In: kit.In(kit.Roles(writes(true, syncDir), reads), kit.LosePower(1)),
		}
	}
	full := func(id, does string, tidy bool, claims []scenarios.Claim) kit.Row {
		return kit.Row{
			ID: id + "/disk-full", Does: does, Claims: claims,
			In: kit.In(kit.Roles(updates(tidy), updates(tidy)), kit.File(file, "{}"), kit.FailCalls(1, syscall.ENOSPC)),
		}
	}
	return sys.Scenarios(
		start("no-fsync", "The rename is on the disk, the data is not: the file is empty from then on.", false, kit.Broken(scenarios.Wedge)),
		start("fsync-file", "The data is on the disk before the rename.", true, kit.Holds(scenarios.Wedge)),
		read("fsync-file", "The write has returned, and its rename is lost: the reader sees what was before.", false, kit.Broken(scenarios.TornRead)),
		full("no-cleanup", "A write that fails leaves its private file there.", false, kit.Broken(scenarios.LeftBehind)),
		full("cleanup", "The private file of a write that fails is removed.", true, kit.Holds(scenarios.LeftBehind)),
		read("fsync-file-and-dir", "The directory is synced as well before the write returns.", true, kit.Holds(scenarios.TornRead)),
	)
}

func writes(syncFile, syncDir bool) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = kit.Writes(t, "{}", func() error { return write(t, "{}", syncFile, syncDir) })
	}
}

// updates writes once, and removes the private file when that fails, or does not.
func updates(tidy bool) scenarios.Program {
	return func(t *scenarios.Task) {
		private := kit.PrivateName(t, file)
		err := kit.Create(t, private, "{}")
		if err == nil {
			err = t.Rename2(private, file, 0)
		}
		if err != nil && tidy {
			_ = t.Unlink(private)
		}
	}
}

func write(t *scenarios.Task, text string, syncFile, syncDir bool) error {
	private := kit.PrivateName(t, file)
	f, err := t.Create(private)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if syncFile {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = t.Rename2(private, file, 0)
	}
	if err != nil {
		return errors.Join(err, t.Unlink(private))
	}
	if !syncDir {
		return nil
	}
	dir, err := t.Open(path.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// parse is a program that starts: no file is fine, one that is empty or has zeros is an error.
func parse(t *scenarios.Task) error {
	text, err := kit.ReadAll(t, file)
	if err == nil && text != "{}" {
		return errors.New("writefileatomic: the file is not whole")
	}
	return nil
}

// reads is the reader after the reboot.
func reads(t *scenarios.Task) {
	scenarios.Record(t, model.Read{}, func() model.ReadValue {
		text, _ := kit.ReadAll(t, file)
		return model.ReadValue{Value: text}
	})
}
