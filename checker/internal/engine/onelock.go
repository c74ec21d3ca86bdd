package engine

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
)

// A property of a lock is about one. A history does not say which lock an operation is of, and a
// machine keeps one mark for each task: with two locks, A holding one and B the other would be
// "both hold the lock", and the removal of the first file that a task holds would be missed. So
// there is no verdict.

// OneLock is the error for a property of a lock when tasks have asked for several. paths are
// theirs, sorted.
func OneLock(sc *scenarios.Scenario, p *scenarios.Property, paths []string) error {
	if len(paths) < 2 || !p.OfLock() {
		return nil
	}
	return unjudgeable{fmt.Sprintf("checker: %s cannot be judged by %s: its tasks ask for %d locks, %s, and %s is said of one; make a scenario for each, or, where these are names of one lock, give Acquire one path for all (Hold.Path can tell the names)",
		sc.ID, p, len(paths), strings.Join(paths, " and "), p)}
}

// addPath adds a path to a sorted list, in which each is once; none is not one.
func addPath(paths []string, path string) []string {
	at, found := slices.BinarySearch(paths, path)
	if found || path == "" {
		return paths
	}
	return slices.Insert(paths, at, path)
}

// AddPaths adds the locks that tasks have asked for in a run.
func (w *World) AddPaths(paths []string) []string {
	for _, path := range w.asked {
		paths = addPath(paths, path)
	}
	return paths
}

// OneLock reports a space in which tasks ask for several locks. Nobody may learn meanwhile.
func (x *Space) OneLock() error {
	var paths []string
	for _, a := range x.automata {
		paths = addPath(paths, a.Node(a.First()).Begins.Asks)
		a.Each(func(e learn.Edge) bool {
			paths = addPath(paths, e.Effects.Asks)
			return true
		})
	}
	return OneLock(x.Sc, x.Property, paths)
}
