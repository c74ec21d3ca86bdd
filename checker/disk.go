package checker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// A Disk is where states are kept that memory has no room for. They are expanded by one worker, remember
// monitors, and have no odds. What cannot be kept there is everything else: machines, and
// what was learned of programs. So it helps where many states share a machine.
type Disk struct {
	// Dir is a directory of the caller's; each question has a folder of its own in it, which stays
	// there. Two processes cannot work in one folder.
	Dir string
	// Bytes bounds what is written for each question; 0 means not.
	Bytes int64
	// Resume goes on where an earlier process ended, in whatever way, after the last level that it
	// completed. It must ask the same of the same scenario with the same program.
	Resume bool
}

// diskHelps is how many states a machine must have for it that a disk is of much use: a state takes
// some forty bytes, and a machine, which stays in memory, some hundreds.
const diskHelps = 8

// Remove removes what questions about a property of a scenario have left in the directory, and
// the directory if nothing else is in it.
func (d Disk) Remove(sc *scenarios.Scenario, p *scenarios.Property) error {
	folders, err := filepath.Glob(filepath.Join(d.Dir, d.name(sc, p)+".*"))
	for _, f := range folders {
		err = errors.Join(err, os.RemoveAll(f))
	}
	if err != nil {
		return fmt.Errorf("checker: states on disk: %w", err)
	}
	_ = os.Remove(d.Dir) // it stays when there is anything in it
	return nil
}

func (d Disk) name(sc *scenarios.Scenario, p *scenarios.Property) string {
	return strings.ReplaceAll(sc.ID, "/", "-") + "." + p.ID
}

// of is where one question has its states.
func (d Disk) of(sc *scenarios.Scenario, p *scenarios.Property) search.Disk {
	name := d.name(sc, p) + "." + engine.Hash([]byte(sc.Setting.Format()))[:8]
	return search.Disk{Dir: filepath.Join(d.Dir, name), Bytes: d.Bytes, Resume: d.Resume}
}
