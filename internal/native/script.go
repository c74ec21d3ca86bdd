package native

import (
	"path/filepath"
	"slices"
)

// A script is the order of calls of a run that was seen elsewhere. It comes in parts, each of one command.
//
// A call matches the next step of its command with the same name and one of its paths, or one of the next so
// many. One that matches none is not in the script, and passes in its command's turn; one that matches a later part is
// held. A part that ends with a [KillStep] or [HeldStep] is over when its last call has been made.
type script struct {
	steps  []Step
	taken  []bool
	window int
	begin  int // of the part
	end    int // the step after its last
	missed int
}

// next goes on to the next part.
func (s *script) next() bool {
	begin := s.end
	for s.end < len(s.steps) && s.steps[s.end].Command == s.steps[begin].Command {
		if s.end++; s.holds() {
			break
		}
	}
	if s.begin = begin; s.end > begin && (s.holds() || s.command() == Nobody) {
		s.taken[s.end-1] = true
	}
	return s.end > begin
}

// kills reports whether the part ends with a kill.
func (s *script) kills() bool { return s.end > 0 && s.steps[s.end-1].Call == KillStep }

// holds reports whether the part ends before the next call, whatever that is.
func (s *script) holds() bool { return s.kills() || s.end > 0 && s.steps[s.end-1].Call == HeldStep }

// holdsNow reports whether it does, and the call before that has been made.
func (s *script) holdsNow() bool {
	return s.steps != nil && s.holds() && (s.end-1 == s.begin || s.taken[s.end-2])
}

// command is whose part it is.
func (s *script) command() int { return s.steps[s.end-1].Command }

// match finds the step that a call is; -1 for none. Elsewhere a call that copies is two looks, a read and a write.
func (s *script) match(command int, name string, paths []string) int {
	seen, window := 0, s.window
	if name == "write" && len(paths) > 1 {
		window = max(window, 4)
	}
	for i, st := range s.steps {
		if st.Command != command || s.taken[i] || st.Call == KillStep || st.Call == HeldStep {
			continue
		}
		if seen++; seen > window {
			break
		}
		if st.Call == name && s.isOn(&st, paths) {
			return i
		}
	}
	return -1
}

// isOn reports whether a call on some paths may be a step. A name that no step has may stand for a random one in the
// same directory.
func (s *script) isOn(st *Step, paths []string) bool {
	if st.Path != "" {
		return slices.ContainsFunc(paths, sameName(st.Path))
	}
	return len(st.New) == 0 || slices.ContainsFunc(st.New, func(made string) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			return sameName(made)(p) || filepath.Dir(made) == filepath.Dir(p) && !s.names(p)
		})
	})
}

// names reports whether a step has a name.
func (s *script) names(p string) bool {
	return slices.ContainsFunc(s.steps, func(st Step) bool {
		return sameName(st.Path)(p) || slices.ContainsFunc(st.New, sameName(p))
	})
}

func sameName(a string) func(string) bool {
	return func(b string) bool { return filepath.Base(a) == filepath.Base(b) }
}

// allows reports whether a call may be made in this part.
func (s *script) allows(command, step int) bool {
	return s.steps == nil || command == s.command() && step < s.end && !s.holdsNow()
}

// take notes that a call was made.
func (s *script) take(command, step int) {
	if s.steps == nil || step < 0 {
		return
	}
	s.taken[step] = true
	for i := range step { // they come no more
		if s.steps[i].Command == command && !s.taken[i] {
			s.taken[i] = true
			s.missed++
		}
	}
}

// skipped counts the steps that no call was.
func (s *script) skipped() int {
	n := s.missed
	for _, t := range s.taken {
		if !t {
			n++
		}
	}
	return n
}
