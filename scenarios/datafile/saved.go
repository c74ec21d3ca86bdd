package datafile

import (
	"errors"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// gascity has the sequence numbers of gastownhall/gascity's event log (Go,
// https://github.com/gastownhall/gascity/pull/565). Details of the merged form are uncertain.
func gascity() []scenarios.Scenario {
	sys := kit.System{Name: "gascity", Lock: gascityLock, State: gascityFile,
		Report: "https://github.com/gastownhall/gascity/pull/565", Source: kit.Part(files, "gascity")}
	row := func(id, does string, write scenarios.Program, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/writers", Does: does, In: kit.In(kit.Roles(write, write)), Claims: claims}
	}
	dup := scenarios.Duplicate
	return sys.Scenarios(
		row("scan-then-append", "The log is read for the highest number, and an entry with the next one is appended.",
			gascityScanThenAppend, kit.Broken(dup)),
		row("scan-under-flock", "The same under a kernel lock on a file of its own.", gascityScanUnderFlock,
			kit.Holds(dup)),
		row("counter-under-flock", "The number comes from a counter under the lock; the entry is appended after it.",
			gascityCounterUnderFlock, kit.Holds(dup)),
	)
}

const (
	gascityFile = "/srv/city/events.log"
	gascityLock = gascityFile + ".seq"
)

// gascityPut appends an entry with its number, which is recorded.
func gascityPut(t *scenarios.Task, n int) {
	scenarios.Record(t, model.Append{Entry: n}, func() model.Appended {
		f, err := t.OpenFile(gascityFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err == nil {
			_, _ = f.WriteString(strconv.Itoa(n) + "\n")
			_ = f.Close()
		}
		return model.Appended{}
	})
}

// gascityHighest is the highest number in the log.
func gascityHighest(t *scenarios.Task) int {
	text, _ := kit.ReadAll(t, gascityFile)
	lines := strings.Fields(text)
	if len(lines) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(lines[len(lines)-1])
	return n
}

func gascityScanThenAppend(t *scenarios.Task) { gascityPut(t, gascityHighest(t)+1) }

func gascityScanUnderFlock(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, gascityLock, os.O_RDWR, fsfake.LOCK_EX)
	if err != nil {
		return
	}
	gascityScanThenAppend(t)
	_ = f.Close()
}

func gascityCounterUnderFlock(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, gascityLock, os.O_RDWR, fsfake.LOCK_EX)
	if err != nil {
		return
	}
	text, err := kit.ReadFrom(f)
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	if text == "" {
		n = gascityHighest(t)
	}
	_, werr := f.WriteAt([]byte(strconv.Itoa(n+1)), 0)
	if errors.Join(err, werr, f.Close()) == nil {
		gascityPut(t, n+1)
	}
}

// writeAtomic has npm/write-file-atomic (npm itself, and thousands of packages): a private file that is renamed
// over the name, with and without fsync (https://github.com/npm/write-file-atomic/issues/64).
func writeAtomic() []scenarios.Scenario {
	sys := kit.System{Name: "write-file-atomic", State: writeAtomicFile,
		Report: "https://github.com/npm/write-file-atomic/issues/64", Source: kit.Part(files, "writeAtomic")}
	start := func(id, does string, syncFile bool, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/start-after-loss", Does: does, Claims: claims,
			In: kit.In(kit.Roles(writeAtomicWrites(syncFile, false)), kit.LosePower(), kit.ProbeWith(writeAtomicParse))}
	}
	read := func(id, does string, syncDir bool, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/read-after-loss", Does: does, Claims: claims,
			In: kit.In(kit.Roles(writeAtomicWrites(true, syncDir), writeAtomicReads), kit.LosePower(1))}
	}
	full := func(id, does string, tidy bool, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/disk-full", Does: does, Claims: claims,
			In: kit.In(kit.Roles(writeAtomicUpdates(tidy), writeAtomicUpdates(tidy)),
				kit.File(writeAtomicFile, "{}"), kit.FailCalls(1, syscall.ENOSPC))}
	}
	return sys.Scenarios(
		start("no-fsync", "The rename is on the disk, the data is not: the file is empty from then on.", false,
			kit.Broken(scenarios.Wedge)),
		start("fsync-file", "The data is on the disk before the rename.", true, kit.Holds(scenarios.Wedge)),
		read("fsync-file", "The write has returned, and its rename is lost: the reader sees what was before.", false,
			kit.Broken(scenarios.TornRead)),
		full("no-cleanup", "A write that fails leaves its private file there.", false,
			kit.Broken(scenarios.LeftBehind)),
		full("cleanup", "The private file of a write that fails is removed.", true, kit.Holds(scenarios.LeftBehind)),
		read("fsync-file-and-dir", "The directory is synced as well before the write returns.", true,
			kit.Holds(scenarios.TornRead)),
	)
}

const writeAtomicFile = "/srv/app/config.json"

func writeAtomicWrites(syncFile, syncDir bool) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = kit.Writes(t, "{}", func() error { return writeAtomicWrite(t, "{}", syncFile, syncDir) })
	}
}

// writeAtomicUpdates writes once, and removes the private file when that fails, or does not.
func writeAtomicUpdates(tidy bool) scenarios.Program {
	return func(t *scenarios.Task) {
		private := kit.PrivateName(t, writeAtomicFile)
		err := kit.Create(t, private, "{}")
		if err == nil {
			err = t.Rename2(private, writeAtomicFile, 0)
		}
		if err != nil && tidy {
			_ = t.Unlink(private)
		}
	}
}

func writeAtomicWrite(t *scenarios.Task, text string, syncFile, syncDir bool) error {
	private := kit.PrivateName(t, writeAtomicFile)
	f, err := t.Create(private)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if syncFile {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = t.Rename2(private, writeAtomicFile, 0)
	}
	if err != nil {
		return errors.Join(err, t.Unlink(private))
	}
	if !syncDir {
		return nil
	}
	dir, err := t.Open(path.Dir(writeAtomicFile))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// writeAtomicParse is a program that starts: no file is fine, one that is empty or has zeros is an error.
func writeAtomicParse(t *scenarios.Task) error {
	text, err := kit.ReadAll(t, writeAtomicFile)
	if err == nil && text != "{}" {
		return errors.New("writefileatomic: the file is not whole")
	}
	return nil
}

// writeAtomicReads is the reader after the reboot.
func writeAtomicReads(t *scenarios.Task) {
	scenarios.Record(t, model.Read{}, func() model.ReadValue {
		text, _ := kit.ReadAll(t, writeAtomicFile)
		return model.ReadValue{Value: text}
	})
}
