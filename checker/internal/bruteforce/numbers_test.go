package bruteforce

import (
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// show remembers that a process was told the inode number of a file.
func (s *state) show(process int, file fsfake.InodeID) {
	shown := slices.Clone(s.shown[process])
	free := slices.Index(shown, 0)
	switch {
	case slices.Contains(shown, file):
		return
	case free >= 0:
		shown[free] = file
	default:
		shown = append(shown, file)
	}
	s.shown[process] = shown
}

// forget frees the numbers that no task of a process knows any more.
func (x *space) forget(s *state, process int) {
	if x.property == scenarios.Starvation {
		return
	}
	shown := slices.Clone(s.shown[process])
	for n, file := range shown {
		known := false
		for i := range s.tasks {
			known = known || x.slots[i].process == process && !s.tasks[i].ended() && slices.Contains(s.tasks[i].reg.told, file)
		}
		if !known {
			shown[n] = 0
		}
	}
	for len(shown) > 0 && shown[len(shown)-1] == 0 {
		shown = shown[:len(shown)-1]
	}
	s.shown[process] = shown
}

func with(files []fsfake.InodeID, file fsfake.InodeID) []fsfake.InodeID {
	if slices.Contains(files, file) {
		return files
	}
	return append(files[:len(files):len(files)], file)
}
