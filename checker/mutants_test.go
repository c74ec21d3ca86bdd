package checker

import (
	"os"
	"path"
	"syscall"

	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Mutants: a protocol's calls are rewritten on their way to the machine, as if a line
// of it were changed. A checker that does not notice would not notice the bug either.

// A rewriter stands between one task and its machine. do makes a call.
type rewriter func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result

// A mutator is one kind of mistake. lock is the lock's name. rewrite counts in hits
// what it changes: a mutator that never does does not apply.
type mutator struct {
	name    string
	rewrite func(lock string, hits *int) rewriter
}

// instead answers calls that match without making them.
func instead(match func(lock string, op fsfake.Op) bool, answer fsfake.Result) func(string, *int) rewriter {
	return func(lock string, hits *int) rewriter {
		return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
			return func(op fsfake.Op) fsfake.Result {
				if !match(lock, op) {
					return do(op)
				}
				*hits++
				do(edit.Work)
				return answer
			}
		}
	}
}

// changed makes calls that match with other arguments.
func changed(match func(fsfake.Op) bool, change func(fsfake.Op) fsfake.Op) func(string, *int) rewriter {
	return func(_ string, hits *int) rewriter {
		return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
			return func(op fsfake.Op) fsfake.Result {
				if match(op) {
					*hits++
					op = change(op)
				}
				return do(op)
			}
		}
	}
}

func isFlock(how int) func(fsfake.Op) bool {
	return func(op fsfake.Op) bool { return op.Call == fsfake.CallFlock && op.Flags&how != 0 }
}

func isExclusive(op fsfake.Op) bool { return op.Call == fsfake.CallOpen && op.Flags&os.O_EXCL != 0 }

func onLock(match func(fsfake.Op) bool) func(string, fsfake.Op) bool {
	return func(_ string, op fsfake.Op) bool { return match(op) }
}

func calls(c fsfake.Call) func(fsfake.Op) bool {
	return func(op fsfake.Op) bool { return op.Call == c }
}

// mutators lists the mistakes. The first list endangers safety; the second only whoever
// comes after a death.
func mutators() (safety, wedge []mutator) {
	sentinel := mutator{"lock file instead of flock", sentinel}
	return []mutator{
			{"open without O_EXCL", changed(isExclusive, func(op fsfake.Op) fsfake.Op { op.Flags &^= os.O_EXCL; return op })},
			{"no flock", instead(onLock(isFlock(fsfake.LOCK_EX)), fsfake.Result{})},
			{"flock is shared", changed(isFlock(fsfake.LOCK_EX), func(op fsfake.Op) fsfake.Op {
				op.Flags = op.Flags&^fsfake.LOCK_EX | fsfake.LOCK_SH
				return op
			})},
			{"flock one call later", lateFlock},
			{"link replaces", linkReplaces},
			{"no guard", instead(onLock(calls(fsfake.CallMkdir)), fsfake.Result{})},
			{"no second look", noSecondLook},
			{"everybody is dead", instead(onLock(calls(fsfake.CallKill)), fsfake.Result{Errno: syscall.ESRCH})},
			{"no start times", instead(onLock(calls(fsfake.CallStartTime)), fsfake.Result{})},
			{"everything has expired", expired},
			{"memory forgets", changed(calls(fsfake.CallCellStore), func(op fsfake.Op) fsfake.Op {
				return fsfake.Op{Call: fsfake.CallCellLoad, Cell: op.Cell}
			})},
			{"one file for every key", changed(isKeyFile, func(op fsfake.Op) fsfake.Op { op.Path = path.Dir(op.Path) + "/k"; return op })},
			{"release one write early", earlyRelease},
			{"release unlinks", releaseUnlinks},
		}, []mutator{
			sentinel,
			{"no release", func(lock string, hits *int) rewriter { return tracked(lock, hits, skipRelease) }},
		}
}

func isKeyFile(op fsfake.Op) bool {
	return op.Call == fsfake.CallOpen && path.Base(path.Dir(op.Path)) == "checked"
}

// lateFlock swaps a flock with the call after it.
func lateFlock(_ string, hits *int) rewriter {
	return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
		late := edit.Work
		return func(op fsfake.Op) fsfake.Result {
			if isFlock(fsfake.LOCK_EX)(op) {
				*hits++
				late = op
				do(edit.Work)
				return fsfake.Result{}
			}
			r := do(op)
			if late != edit.Work {
				l := late
				late = edit.Work
				do(l)
			}
			return r
		}
	}
}

// sentinel creates the lock file with O_EXCL and asks for no kernel lock.
func sentinel(lock string, hits *int) rewriter {
	return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
		return func(op fsfake.Op) fsfake.Result {
			switch {
			case op.Call == fsfake.CallFlock:
				*hits++
				do(edit.Work)
				return fsfake.Result{}
			case op.Call == fsfake.CallOpen && op.Path == lock && op.Flags&os.O_CREATE != 0:
				op.Flags |= os.O_EXCL
			}
			return do(op)
		}
	}
}

// linkReplaces removes what has the new name before it links.
func linkReplaces(_ string, hits *int) rewriter {
	return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
		return func(op fsfake.Op) fsfake.Result {
			if op.Call == fsfake.CallLink {
				*hits++
				do(fsfake.Op{Call: fsfake.CallUnlink, Path: op.Path2})
			}
			return do(op)
		}
	}
}

// noSecondLook lets the look under the guard see what the look before it saw.
func noSecondLook(lock string, hits *int) rewriter {
	return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
		guarded := false
		seen := map[fsfake.Op]fsfake.Result{}
		return func(op fsfake.Op) fsfake.Result {
			switch {
			case op.Call == fsfake.CallMkdir:
				r := do(op)
				guarded = r.OK()
				return r
			case op.Call == fsfake.CallUnlink, op.Call == fsfake.CallRmdir:
				guarded = false
			case guarded:
				if r, ok := seen[op]; ok {
					*hits++
					do(edit.Work)
					return r
				}
			}
			r := do(op)
			if op.Call == fsfake.CallSleep {
				clear(seen)
			} else {
				seen[op] = r
			}
			return r
		}
	}
}

// expired judges what was read by a clock that is an hour ahead.
func expired(_ string, hits *int) rewriter {
	return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
		var last fsfake.Call
		return func(op fsfake.Op) fsfake.Result {
			r := do(op)
			if op.Call == fsfake.CallNow && last == fsfake.CallClose {
				*hits++
				r.N += 3600e9
			}
			last = op.Call
			return r
		}
	}
}

// mutate returns the scenario with the mistake made in every program and in the probe.
func mutate(sc scenarios.Scenario, m mutator, hits *int) *scenarios.Scenario {
	lock := sc.Watch[0]
	mutant := edit.Through(sc, func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
		return edit.Calls{Port: p, Make: m.rewrite(lock, hits)(p.Do)}
	})
	return &mutant
}
