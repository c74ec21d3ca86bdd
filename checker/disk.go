package checker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	// completed. It must ask the same of the same scenario with the same program. A question of
	// which there is nothing begins.
	Resume bool
	// Program, when not empty, names the program by its contents. Where states are that a program
	// of another name has found, there is an error and no verdict. Without a name what programs
	// answer is compared, and what follows from a state that taught something.
	Program string
}

// diskHelps is how many states a machine must have for it that a disk is of much use: a state takes
// some forty bytes, and a machine, which stays in memory, some hundreds.
const diskHelps = 8

// Remove removes what a question about a property of a scenario has left in the directory, in all
// its cases, and the directory if nothing else is in it.
func (d Disk) Remove(sc *scenarios.Scenario, p *scenarios.Property) error {
	for _, folder := range d.folders(sc, p) {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("checker: states on disk: %w", err)
		}
	}
	_ = os.Remove(d.Dir) // it stays when there is anything in it
	return nil
}

// Begun reports whether there are states of a question in the directory, in some case.
func (d Disk) Begun(sc *scenarios.Scenario, p *scenarios.Property) bool {
	return slices.ContainsFunc(d.folders(sc, p), func(folder string) bool {
		_, err := os.Stat(folder)
		return err == nil
	})
}

// folders are where a question may have states: a case is decided in a folder of its own.
func (d Disk) folders(sc *scenarios.Scenario, p *scenarios.Property) []string {
	var out []string
	for _, a := range sc.Setting.Assume.Narrower() {
		st := sc.Setting
		st.Assume = a
		out = append(out, d.folder(sc.ID, p, &st))
	}
	return out
}

func (d Disk) folder(id string, p *scenarios.Property, st *scenarios.Setting) string {
	return filepath.Join(d.Dir, strings.ReplaceAll(id, "/", "-")+"."+p.ID+"."+engine.Hash([]byte(st.Format()))[:8])
}

// of is where one question has its states.
func (d Disk) of(sc *scenarios.Scenario, p *scenarios.Property) search.Disk {
	return search.Disk{Dir: d.folder(sc.ID, p, &sc.Setting), Bytes: d.Bytes, Resume: d.Resume, Program: d.Program}
}
