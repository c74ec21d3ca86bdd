package command

import (
	"slices"

	"lockpick/scenarios"
)

// The pids of what a command starts. They are made of the parent's pid, so that they hang on nothing that other
// commands do, nor on which of two children comes first; and the lowest that is free, so that one round of a loop
// that starts processes is like the next.
//
// A process has a block of numbers, that begins with its own. The first child that it has at a time gets a third of
// the rest, the second a third of what is left then, and so on.

// blocks is how many numbers blocks are made of; those above are for children that find no room in their parent's.
const blocks = 900

// A block is a process's number, and how many numbers it has from there on.
type block struct{ at, size int }

// within lists the blocks of the children of a process, the first child's first.
func (b block) within() (out []block) {
	at, rest := b.at+1, b.size-1
	for rest > 0 {
		out = append(out, block{at, (rest + 2) / 3})
		at, rest = at+(rest+2)/3, rest-(rest+2)/3
	}
	return out
}

// blockOf is the block of a number below blocks.
func blockOf(number int) block {
	b := block{0, blocks}
	for b.at != number {
		children := b.within()
		i := slices.IndexFunc(children, func(c block) bool { return number < c.at+c.size })
		b = children[i]
	}
	return b
}

// freePid is the pid of the next child of a process. own reports whether that hangs on this process alone: on which
// children it has, and has not waited for.
func (d *driver) freePid(parent int) (pid int, own bool) {
	first, number := d.root*scenarios.ChildPids, 0
	if parent != d.root {
		number = parent - first
	}
	children, others := d.run.Taken(parent)
	own = true
	if number < blocks {
		for _, b := range blockOf(number).within() {
			if slices.Contains(children, first+b.at) {
				continue
			}
			if !slices.ContainsFunc(others, func(pid int) bool { return pid >= first+b.at && pid < first+b.at+b.size }) {
				return first + b.at, own
			}
			own = false // an orphan, say, of which another process with this pid was the parent
		}
	}
	pid = first + blocks
	for d.children[pid] || slices.Contains(children, pid) || slices.Contains(others, pid) {
		pid++
	}
	return pid, false
}

// newPid is the pid of a child that a process starts.
func (d *driver) newPid(parent int) int {
	pid, _ := d.freePid(parent)
	d.children[pid] = true
	return pid
}

// startedBy reports whether a process has a pid of another one, or of what that starts.
func (d *driver) startedBy(pid, other int) bool {
	if pid == other || other == d.root {
		return true
	}
	first := d.root * scenarios.ChildPids
	if pid == d.root || other-first >= blocks {
		return false
	}
	b := blockOf(other - first)
	return pid-first >= b.at && pid-first < b.at+b.size
}

// number is that of a child in its command, whose first process has another.
func (d *driver) number(pid int) int { return pid - d.root*scenarios.ChildPids }
